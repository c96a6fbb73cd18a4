"""Record the ladder on every subject: `python -m bench.probes.record`. Stop it at any time; it goes on where it was.

Mutants pass a probe by the preflight's rule (two right seeds and no wrong one), which is a third of the work; stock
algorithms and unmutated reference trainers get the full rule, because false alarms are counted on them.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TypeAlias

from bench.probes import store
from bench.probes.costs import most_seconds
from bench.probes.examination import Examination
from bench.probes.frozen import ADDED
from bench.probes.score import is_reported, outcome_of, outcomes
from bench.probes.subjects import Subject, all_subjects
from rlclinic.probes.definition import Case, Probe
from rlclinic.probes.ladder import LADDER

Item: TypeAlias = tuple[Probe, Case, str]
"""A case with its probe and its digest."""
UNKNOWN_EFFORT = 5000
"""Environment steps assumed for a subject that names no likely probe."""


def main() -> None:
    """Choose subjects and share them among processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--how", choices=("first-kill", "ask", "whole"), default="whole",
        help="leave a mutant at the first probe that it fails; then go on with what the localiser asks for; or run all",
    )  # fmt: skip
    parser.add_argument(
        "--patience", type=float, default=math.inf, metavar="S",
        help="leave a subject after so many seconds of CPU, to go on with it another time",
    )  # fmt: skip
    parser.add_argument("--subjects", choices=("mutants", "right", "stock", "all"), default="all")
    parser.add_argument("--only", nargs="*", default=(), help="names of subjects, or the beginnings of them")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    subjects = [subject for subject in all_subjects() if wanted(subject, chosen.subjects, tuple(chosen.only))]
    if chosen.how == "first-kill":
        subjects.sort(key=effort)
    if chosen.how == "ask":
        killed = {outcome.subject.name for outcome in outcomes() if outcome.killed and not outcome.subject.right}
        subjects = [subject for subject in subjects if subject.name in killed]
    print(
        f"{len(subjects)} subjects, at most {most_seconds(subjects, store.rows()) / 60:.0f} minutes of CPU", flush=True
    )
    run = partial(examine, how=chosen.how, patience=chosen.patience)
    if chosen.processes == 1:
        for line in map(run, subjects):
            print(line, flush=True)
        return
    with ProcessPoolExecutor(chosen.processes, mp_context=get_context("spawn")) as pool:
        for line in pool.map(run, subjects):
            print(line, flush=True)


def effort(subject: Subject) -> int:
    """Environment steps of the cheapest likely probe: early numbers come from what is quickly told."""
    likely = subject.mutant.likely if subject.mutant else ()
    budgets = [max(case.budget.values()) for probe in LADDER if probe.code in likely for case in probe.cases]
    return min(budgets, default=UNKNOWN_EFFORT)


def wanted(subject: Subject, kind: str, beginnings: tuple[str, ...]) -> bool:
    """Is the subject among those that were asked for?"""
    kinds = {"all": True, "stock": subject.stock, "mutants": subject.mutant is not None,
             "right": not subject.stock and subject.mutant is None}  # fmt: skip
    return kinds[kind] and (not beginnings or subject.name.startswith(beginnings))


def examine(subject: Subject, *, how: str, patience: float) -> str:
    """Run what is not yet recorded, and say how it went."""
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        recorder = Recorder(subject)
    except Exception as error:  # an adapter may not be there
        return f"{subject.name}: not examined, {type(error).__name__}: {error}"
    began = time.process_time()
    items = asked(recorder) if how == "ask" else iter(ordered(subject, recorder.planned, how))
    for item in items:
        noticed = recorder.notices(*item)
        if how == "first-kill" and noticed and not subject.right:
            break
        if time.process_time() - began > patience:
            recorder.notable.append("left")
            break
    spent = time.process_time() - began
    return f"{subject.name}: {recorder.new} new, {spent:.0f} s; {', '.join(recorder.notable) or 'all pass'}"


class Recorder:
    """Takes verdicts from the record where it has them for the present code, and adds the others to it."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.digest, self.known = subject, subject.digest(), store.rows()
        quick = subject.mutant is not None
        self.examination = Examination(subject, quick=quick)
        self.planned: list[Item] = list(self.examination.planned())
        self.new, self.notable = 0, list[str]()
        self._about = {
            "trainer_digest": self.digest,
            "family": self.examination.portrait.family,
            "actions": self.examination.portrait.actions[0],
            "rule": "quick" if quick else "full",
            "planned": len(self.planned),
        }

    def notices(self, probe: Probe, case: Case, case_digest: str) -> bool:
        """Does one case find anything wrong?"""
        row = self.known.get((self.subject.name, probe.code, case.name))
        if row and row["case_digest"] == case_digest and row["trainer_digest"] == self.digest:
            verdict, reason = row["verdict"], row["reason"]
        else:
            found = self.examination.examine(probe, case, case_digest)
            store.append(self.subject, self._about, found)
            verdict, reason, self.new = found.verdict, found.reason, self.new + 1
        if verdict != "pass":
            self.notable.append(f"{probe.code}.{case.name} {verdict}")
        return verdict == "fail" or is_reported(reason)


def asked(recorder: Recorder) -> Iterator[Item]:
    """The static contracts, then what the localiser asks for, as somebody would go on after a first failure."""
    yield from (item for item in recorder.planned if item[0].exact)
    while True:
        found = outcome_of(recorder.subject, store.rows())
        wanted = [
            item for item in recorder.planned if found.separating in (item[0].code, f"{item[0].code}.{item[1].name}")
        ]
        if not wanted:
            return
        yield wanted[0]


def ordered(subject: Subject, planned: Iterable[Item], how: str) -> list[Item]:
    """The order of the ladder; for a first kill the likely probes, then the cheap ones.

    Mutants from real fixes meet the cases that are younger than they only when all others have passed.
    """
    cases = list(planned)
    if how != "first-kill" or subject.mutant is None:
        return cases
    likely, waits = subject.mutant.likely, subject.mutant.origin == "from_fixes"

    def key(item: Item) -> tuple[bool, int, int]:
        probe, case, _ = item
        place = likely.index(probe.code) if probe.code in likely else len(likely)
        return (waits and (probe.code, case.name) in ADDED, place, max(case.budget.values()))

    return sorted(cases, key=key)


if __name__ == "__main__":
    main()
