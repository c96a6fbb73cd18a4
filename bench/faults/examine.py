"""Diagnose recorded runs: whole, without their config, and in growing parts. One row of answers per run."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from bench.faults.labels import Label
from bench.faults.plan import Entry, entries
from bench.faults.replay import cut, replay
from bench.faults.shards import Record
from bench.faults.split import WITHHELD, is_withheld, sides
from rlclinic.causes import posterior
from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.causes.weights import weights
from rlclinic.engine import diagnose
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.unusual_settings import unusual
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import RlclinicError
from rlclinic.model.run import Run

PARTS = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
"""Shares of a run of the test part that are diagnosed as if it still ran."""
FINE = frozenset({NOTHING_WRONG, "already-solved"})
"""Causes that say that nothing needs to change."""
EXAMINES = "examine"
"""A next step with the command that examines the environment."""
RUNNING = frozenset({*FINE, "budget-too-small", "interrupted"})
"""The same for a part of a run, whose budget is not used."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a diagnosis says."""

    verdict: str
    causes: tuple[tuple[str, str, float], ...]
    """(cause, class, probability), the likeliest first."""
    alarm: bool
    """Whether it leads with something that is wrong; `unknown` is no alarm."""
    checked: bool
    """Whether anything could be checked."""
    steps: tuple[tuple[str, ...], ...] = ()
    """Of each next step what it treats: causes, and EXAMINES where it examines the environment."""
    changes: int = 0
    """Settings that it would change."""

    @property
    def leading(self) -> str:
        """The likeliest cause."""
        return self.causes[0][0] if self.causes else UNKNOWN

    @property
    def confidence(self) -> float:
        """Of the likeliest cause."""
        return self.causes[0][2] if self.causes else 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One run with its label and the answers."""

    entry: Entry
    label: str
    accepted: frozenset[str]
    side: str
    withheld: bool
    with_config: Answer
    metrics_only: Answer
    parts: Mapping[float, Answer]
    """Metrics only, by share of the run; for the test part."""
    largest_deviation: str
    """The cause whose setting lies furthest from working configs: a baseline."""
    seconds: float
    """Of one diagnosis, reading included."""


def rows(records: Sequence[Record], labels: Mapping[str, Label], *, workers: int) -> list[Row]:
    """Answers for every run whose instance has a label."""
    known = entries()
    work = []
    for record in records:
        label = labels.get(known[record.name].instance.name) if record.name in known else None
        if label is not None and label.label != "unfinished":
            work.append((record, known[record.name], label))
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        return list(pool.imap(_row, work, chunksize=4))


def _row(work: tuple[Record, Entry, Label]) -> Row:
    record, entry, label = work
    instance = entry.instance
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        run = read_record(record, entry, Path(place), config=True)
        withheld = is_withheld(instance)
        with _without(WITHHELD if withheld else frozenset()):
            full = answer(run)
            seconds = time.perf_counter() - began
            bare = read_record(record, entry, Path(place), config=False)
            metrics = answer(bare)
            shares = PARTS if bare is not None and sides()[instance.name] == "test" else ()
            parts = {share: answer(cut(bare, share), running=True) for share in shares} if bare is not None else {}
    return Row(
        entry, label.label, label.accepted, sides()[instance.name], withheld, full, metrics, parts,
        _furthest(run), seconds,
    )  # fmt: skip


def read_record(record: Record, entry: Entry, place: Path, *, config: bool) -> Run | None:
    try:
        return replay(record, entry.instance, place, config=config)
    except RlclinicError:
        return None


def answer(run: Run | None, *, running: bool = False) -> Answer:
    if run is None:
        return Answer("insufficient-data", (), alarm=False, checked=False)
    found: Diagnosis = diagnose(run)
    causes = tuple((cause.id, cause.cause_class, cause.probability) for cause in found.causes)
    quiet = {*(RUNNING if running else FINE), UNKNOWN}
    alarm = bool(causes) and causes[0][0] not in quiet
    advice = found.prescriptions
    steps = [(*item.causes, *_examines(item.instruction)) for item in advice]
    steps += [_examines(line) for line in found.next_steps[len(advice) :] if _examines(line)]
    return Answer(
        found.verdict.value, causes, alarm=alarm, checked=found.verdict.value != "insufficient-data",
        steps=tuple(steps), changes=sum(len(item.changes) for item in advice),
    )  # fmt: skip


def _examines(text: str) -> tuple[str, ...]:
    return (EXAMINES,) if "rlclinic examine" in text else ()


@contextmanager
def _without(causes: frozenset[str]) -> Iterator[None]:
    """Diagnose with a table that does not know some causes."""
    if not causes:
        yield
        return
    table = weights()
    reduced = replace(table, causes={cause: row for cause, row in table.causes.items() if cause not in causes})
    with patch.object(posterior, "weights", lambda: reduced):
        yield


def _furthest(run: Run | None) -> str:
    """The cause behind the setting that deviates most; nothing wrong where none deviates."""
    best, found = 1.0, NOTHING_WRONG
    facts = RunFacts(run) if run is not None else None
    for cause, row in weights().causes.items():
        suspect = row.settings[0] if row.settings else None
        away = unusual(facts, suspect.key) if facts is not None and suspect is not None else None
        if away is not None and suspect is not None and away.off(suspect.direction) > best:
            best, found = away.off(suspect.direction), cause
    return found
