"""Correct trainers of other makes under the ladder: which verdicts are false alarms?

`python -m bench.probes.variants --minutes 50` goes on where the record ends, the cheapest cases first, by the
preflight's rule (two right seeds pass, a wrong one brings the full rule); `--score` only prints.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path
from statistics import mean
from typing import Any

from bench.mutants.catalogue import variants
from bench.probes import store
from bench.probes.examination import Examination, Examined
from bench.probes.subjects import Subject
from rlclinic.probes.definition import Case, Probe

RECORD = Path(__file__).parent / "variants.jsonl.gz"
UNKNOWN_SECONDS = 3.0
"""CPU of a case that no mutant of this trainer has passed."""


@dataclass(frozen=True, slots=True)
class Task:
    """One case of one variant."""

    examination: Examination
    trainer_digest: str
    probe: Probe
    case: Case
    case_digest: str

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """By what the record knows it; changes with the code of the trainer and of the case."""
        return (
            self.examination.subject.name, self.trainer_digest, self.probe.code, self.case.name, self.case_digest
        )  # fmt: skip


def subjects() -> Iterator[Subject]:
    """Every variant on every trainer that it names."""
    for variant in variants().values():
        for trainer in variant.trainers:
            yield Subject(f"{trainer}+{variant.id}", trainer, variant)


def tasks(only: Sequence[str] = ()) -> list[Task]:
    """All cases that apply, the cheapest first."""
    found = []
    for subject in subjects():
        if only and not subject.name.startswith(tuple(only)):
            continue
        examination, digest = Examination(subject, quick=True), subject.digest()
        found += [Task(examination, digest, *item) for item in examination.planned()]
    costs = _costs()

    def cost(task: Task) -> float:
        return costs.get((task.examination.subject.trainer, task.probe.code, task.case.name), UNKNOWN_SECONDS)

    return sorted(found, key=cost)


def record(planned: list[Task], minutes: float, path: Path = RECORD) -> None:
    """Run what the record does not have yet until so much CPU is spent."""
    done, began = rows(path), time.process_time()
    known = {tuple(row[:5]) for row in done}
    for task in planned:
        if time.process_time() - began > 60 * minutes:
            return
        if task.key not in known:
            done.append(_row(task, task.examination.examine(task.probe, task.case, task.case_digest)))
            write(done, path)


def verdicts(path: Path = RECORD) -> dict[str, dict[str, str]]:
    """Variant -> case -> verdict, as the present code has them."""
    present = {subject.name: subject.digest() for subject in subjects()}
    found: dict[str, dict[str, str]] = {}
    for name, digest, code, case, _, verdict, *_ in rows(path):
        if present.get(name) == digest:
            found.setdefault(name, {})[f"{code} {case}"] = verdict
    return found


def rows(path: Path = RECORD) -> list[list[Any]]:
    """Subject, digest of its code, probe, case, its digest, verdict, right seeds, seeds, CPU seconds; what is wrong."""
    if not path.exists():
        return []
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def write(done: Sequence[Any], path: Path = RECORD) -> None:
    """All rows, packed, beside the record and then in its place: a verdict costs a hundred times as much."""
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in done)
    beside = path.with_suffix(".part")
    beside.write_bytes(gzip.compress(text.encode(), mtime=0))
    beside.replace(path)


def at_most(alarms: int, judged: int, sure: float = 0.95) -> float:
    """The share of false alarms that is not exceeded with this confidence (Clopper and Pearson)."""
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        chance = sum(comb(judged, k) * share**k * (1 - share) ** (judged - k) for k in range(alarms + 1))
        low, high = (share, high) if chance > 1 - sure else (low, share)
    return high


def score(path: Path = RECORD) -> list[str]:
    """False alarms of all verdicts, and which they are."""
    found = verdicts(path)
    every = Counter(verdict for cases in found.values() for verdict in cases.values())
    judged, alarms = every["pass"] + every["fail"], every["fail"]
    lines = [
        f"{len(found)} variants, {judged} verdicts, {alarms} false alarms, {every['not-judged']} not judged; "
        f"with 95% confidence at most {at_most(alarms, judged):.2%} per verdict"
    ]
    return lines + [
        f"  {name}: {case} {verdict}"
        for name, cases in found.items()
        for case, verdict in cases.items()
        if verdict != "pass"
    ]


def _row(task: Task, found: Examined) -> list[Any]:
    right = sum(seed.passed for seed in found.seeds)
    row = [*task.key, found.verdict, right, len(found.seeds), round(found.seconds, 2)]
    if found.verdict == "pass":
        return row
    readings = [{name: round(value, 3) for name, value in seed.readings.items()} for seed in found.seeds]
    return [*row, found.reason or readings]


@cache
def _costs() -> dict[tuple[str, str, str], float]:
    """CPU seconds of a pass by trainer and case, from the mutants that passed."""
    spent: dict[tuple[str, str, str], list[float]] = {}
    for (name, code, case), row in store.rows().items():
        if row["verdict"] == "pass":
            spent.setdefault((name.partition("+")[0], code, case), []).append(row["cpu_seconds"] / len(row["seeds"]))
    return {key: mean(values) for key, values in spent.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=50.0, help="of CPU")
    parser.add_argument("--only", action="append", default=[], help="the beginning of a variant's name")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--score", action="store_true", help="run nothing")
    given = parser.parse_args()
    if not given.score:
        os.environ["OMP_NUM_THREADS"] = "1"
        record(tasks(given.only), given.minutes, given.record)
    print("\n".join(score(given.record)))
