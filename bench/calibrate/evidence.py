"""What the rules find in every run of the calibration part, and what is known to be wrong with it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from unittest.mock import patch

from bench.faults.bases import bases
from bench.faults.catalogue import faults
from bench.faults.labels import Label
from bench.faults.plan import Instance, entries
from bench.faults.replay import replay
from bench.faults.shards import Record
from bench.faults.split import sides
from rlclinic import engine
from rlclinic.causes.catalogue import NOTHING_WRONG
from rlclinic.causes.weights import VERDICT
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import RlclinicError

Asked: TypeAlias = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Arguments of `causes_of`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One run."""

    environment: str
    cause: str
    instance: str
    weight: float
    """All seeds of an instance together weigh 1."""
    fired: frozenset[str]
    """Rules by name, and the verdict."""
    unchecked: frozenset[str]
    """Rules that lacked their metrics: they say nothing."""
    accepted: frozenset[str] = frozenset()
    with_config: Asked | None = None
    without_config: Asked | None = None
    """What the table is asked about the run."""


def evidence(records: Sequence[Record], labels: Mapping[str, Label]) -> list[Evidence]:
    """Runs with one known fault, and healthy ones, of the calibration part only."""
    chosen = [record for record in records if _calibrates(record, labels)]
    seeds = Counter(entries()[record.name].instance.name for record in chosen)
    return list(_found(chosen, seeds, labels))


def _calibrates(record: Record, labels: Mapping[str, Label]) -> bool:
    entry = entries().get(record.name)
    if entry is None or sides()[entry.instance.name] != "calibration" or entry.instance.kind == "double":
        return False
    label = labels.get(entry.instance.name)
    return label is not None and label.label in ("fault", "healthy", "benign")


def _found(records: Sequence[Record], seeds: Mapping[str, int], labels: Mapping[str, Label]) -> Iterator[Evidence]:
    for record in records:
        instance = entries()[record.name].instance
        with tempfile.TemporaryDirectory() as folder:
            found = _diagnosed(record, instance, Path(folder), config=True)
            bare = _diagnosed(record, instance, Path(folder), config=False)
        if found is None:
            continue
        diagnosis, asked = found
        accepted = labels[instance.name].accepted
        faulty = bool(instance.injected) and accepted.isdisjoint({NOTHING_WRONG})
        yield Evidence(
            bases()[instance.base].environment,
            faults()[instance.injected[0][0]].cause if faulty else NOTHING_WRONG,
            instance.name,
            1.0 / seeds[instance.name],
            frozenset((*(finding.name for finding in diagnosis.findings), VERDICT + diagnosis.verdict.value)),
            frozenset(_name(item.code) for item in diagnosis.not_checked),
            accepted,
            asked,
            bare[1] if bare is not None else None,
        )


def _diagnosed(record: Record, instance: Instance, folder: Path, *, config: bool) -> tuple[Diagnosis, Asked] | None:
    """A diagnosis, and what it asked the table."""
    with patch.object(engine, "causes_of", wraps=engine.causes_of) as table:
        try:
            found = engine.diagnose(replay(record, instance, folder, config=config))
        except RlclinicError:
            return None
    return found, (table.call_args.args, table.call_args.kwargs)


def _name(code: str) -> str:
    from rlclinic.rules.registry import RULES

    return next((row.name for row in RULES if row.code == code), code)
