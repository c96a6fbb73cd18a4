"""What an instance is, the data decide: the share of the gap from random to clean that it lost, over its seeds."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bench.faults.bases import REACHED_WITHIN, base_of
from bench.faults.plan import HARMLESS as FINE
from bench.faults.plan import SEEDS, Entry, Instance, entries
from bench.faults.shards import Record

HARMFUL, HARMLESS = 0.20, 0.05
"""Lost share that the whole interval of a fault lies above, and that of a benign change below."""
END = 0.8
"""Share of the budget from which on a level counts as final."""
RESAMPLES, COVERAGE = 2000, 0.95
DECLARED = "none"
"""Judged on nothing: the fault harms the log, not the policy, so it is one by construction."""
_TIMING = ("time", "train/sys/")


@dataclass(frozen=True, slots=True)
class Label:
    """One instance after its runs."""

    instance: Instance
    label: str
    """`healthy`, `benign`, `fault` or `edge`; `unfinished` while seeds are missing."""
    lost: float
    interval: tuple[float, float]
    seeds: int
    accepted: frozenset[str]
    merged: tuple[str, ...] = ()
    """Instances whose runs are the same, number by number; they count once."""


def labels(
    records: Iterable[Record], known: Mapping[str, Entry] | None = None, *, seeds: int = SEEDS
) -> dict[str, Label]:
    """By name of the instance, of the plan or of other known entries; merged ones are left out."""
    runs: dict[str, dict[int, Record]] = defaultdict(dict)
    known = entries() if known is None else known
    for record in records:
        if record.name in known:
            entry = known[record.name]
            runs[entry.instance.name][entry.seed] = record
    instances = {entry.instance.name: entry.instance for entry in known.values()}
    names = {instance.base for instance in instances.values()}
    clean = {name: list(runs.get(Instance("clean", name).name, {}).values()) for name in names}
    found = {name: _label(instances[name], list(made.values()), clean, seeds) for name, made in runs.items()}
    return _merged(found, runs, seeds)


def final(record: Record, judged_on: str) -> float:
    """The true level at the end; NaN where there is none."""
    kind = "training" if judged_on == "training" else "evaluation"
    values = [value for share, value in record.truth[kind] if share > END]
    return float(np.mean(values)) if values else float("nan")


def reached(record: Record, target: float) -> float | None:
    """Share of the budget at which the evaluations first reached the target."""
    return next((share for share, value in record.truth["evaluation"] if value >= target), None)


def _label(instance: Instance, made: Sequence[Record], clean: Mapping[str, Sequence[Record]], seeds: int) -> Label:
    base = base_of(instance.base)
    accepted = instance.accepted
    judged_on = instance.judged_on
    if judged_on == DECLARED:
        return Label(instance, "fault", float("nan"), (float("nan"),) * 2, len(made), accepted)
    reference = np.array([final(record, judged_on) for record in clean[instance.base]])
    reference = reference[np.isfinite(reference)]
    if len(made) < seeds or reference.size < seeds:
        return Label(instance, "unfinished", float("nan"), (float("nan"),) * 2, len(made), accepted)
    levels = np.array([_level(record, judged_on, base.random) for record in made])
    rng = np.random.default_rng(0)
    top = rng.choice(reference, (RESAMPLES, reference.size)).mean(axis=1)
    got = rng.choice(levels, (RESAMPLES, levels.size)).mean(axis=1)
    lost = (top - got) / (top - base.random)
    tail = (1 - COVERAGE) / 2
    low, high = (float(value) for value in np.quantile(lost, [tail, 1 - tail]))
    middle = float((reference.mean() - levels.mean()) / (reference.mean() - base.random))
    word = _word(instance, made, low, high)
    # A change that does no harm must not be called a fault, whatever it is.
    return Label(instance, word, middle, (low, high), len(made), FINE if word == "benign" else accepted)


def _word(instance: Instance, made: Sequence[Record], low: float, high: float) -> str:
    if instance.kind == "clean" and instance.layout == "lab":
        shares = [reached(record, base_of(instance.base).target) for record in made]
        in_time = sum(share is not None and share <= REACHED_WITHIN for share in shares)
        return "healthy" if in_time > len(made) / 2 else "edge"
    if low > HARMFUL:
        # What was meant to be harmless and is not has a cause that nobody knows.
        return "edge" if instance.accepted <= FINE else "fault"
    return "benign" if high < HARMLESS else "edge"


def _level(record: Record, judged_on: str, random: float) -> float:
    """A run that died is lost: it counts as the random policy it would have to start from again."""
    value = final(record, judged_on)
    return random if record.status.get("state") == "crashed" or not np.isfinite(value) else value


def _merged(found: Mapping[str, Label], runs: Mapping[str, Mapping[int, Record]], seeds: int) -> dict[str, Label]:
    """Two instances that behave identically are one, and either cause is right."""
    first: dict[str, str] = {}
    kept: dict[str, Label] = {}
    for name, label in found.items():
        mark = _fingerprint(runs[name])
        if label.seeds < seeds or mark not in first:
            first[mark] = name
            kept[name] = label
            continue
        other = kept[first[mark]]
        kept[first[mark]] = replace(other, accepted=other.accepted | label.accepted, merged=(*other.merged, name))
    return kept


def _fingerprint(made: Mapping[int, Record]) -> str:
    digest = hashlib.sha256()
    for seed in sorted(made):
        digest.update(str(seed).encode())
        for name, column in sorted(made[seed].columns.items()):
            if not name.startswith(_TIMING):
                digest.update(f"{name}:{column}".encode())
        for path in made[seed].files:
            digest.update(made[seed].files[path].encode())
    return digest.hexdigest()
