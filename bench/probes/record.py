"""Record the ladder on every subject: `python -m bench.probes.record`. Stop it at any time; it goes on where it was.

Mutants pass a probe by the preflight's rule (two right seeds and no wrong one), which is a third of the work; stock
algorithms and unmutated reference trainers get the full rule, because false alarms are counted on them.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from bench.probes import store
from bench.probes.examination import Examination
from bench.probes.subjects import Subject, all_subjects
from rlclinic.probes.definition import Case, Probe
from rlclinic.probes.ladder import LADDER

UNKNOWN_EFFORT = 5000
"""Environment steps assumed for a subject that names no likely probe."""


def main() -> None:
    """Choose subjects and share them among processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first-kill", action="store_true", help="leave a mutant at the first probe that it fails")
    parser.add_argument(
        "--patience", type=float, default=math.inf, metavar="S",
        help="leave a subject after so many seconds of CPU, to go on with it another time",
    )  # fmt: skip
    parser.add_argument("--subjects", choices=("mutants", "right", "stock", "all"), default="all")
    parser.add_argument("--only", nargs="*", default=(), help="names of subjects, or the beginnings of them")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    subjects = [subject for subject in all_subjects() if wanted(subject, chosen.subjects, tuple(chosen.only))]
    if chosen.first_kill:
        subjects.sort(key=effort)
    if chosen.processes == 1:
        for subject in subjects:
            print(examine(subject, first_kill=chosen.first_kill, patience=chosen.patience), flush=True)
        return
    with ProcessPoolExecutor(chosen.processes, mp_context=get_context("spawn")) as pool:
        jobs = [
            pool.submit(examine, subject, first_kill=chosen.first_kill, patience=chosen.patience)
            for subject in subjects
        ]
        for job in jobs:
            print(job.result(), flush=True)


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


def examine(subject: Subject, *, first_kill: bool, patience: float = math.inf) -> str:
    """Run what is not yet recorded, and say how it went."""
    os.environ["OMP_NUM_THREADS"] = "1"
    quick = subject.mutant is not None
    try:
        examination = Examination(subject, quick=quick)
    except Exception as error:  # an adapter may not be there
        return f"{subject.name}: not examined, {type(error).__name__}: {error}"
    digest, known = subject.digest(), store.rows()
    stop_early = first_kill and not subject.right
    began = time.process_time()
    fails, new = [], 0
    planned = ordered(subject, examination.planned(), likely_first=stop_early)
    about = {
        "trainer_digest": digest,
        "family": examination.portrait.family,
        "actions": examination.portrait.actions[0],
        "rule": "quick" if quick else "full",
        "planned": len(planned),
    }
    for probe, case, case_digest in planned:
        if time.process_time() - began > patience:
            fails.append("left unfinished")
            break
        row = known.get((subject.name, probe.code, case.name))
        if row and row["case_digest"] == case_digest and row["trainer_digest"] == digest:
            verdict = row["verdict"]
        else:
            found = examination.examine(probe, case, case_digest)
            store.append(subject, about, found)
            verdict, new = found.verdict, new + 1
        if verdict != "pass":
            fails.append(f"{probe.code}.{case.name} {verdict}")
            if stop_early and verdict == "fail":
                break
    return f"{subject.name}: {new} new; {', '.join(fails) or 'all pass'}"


def ordered(
    subject: Subject, planned: Iterable[tuple[Probe, Case, str]], *, likely_first: bool
) -> list[tuple[Probe, Case, str]]:
    """The order of the ladder; for a first kill the likely probes, then the cheap ones."""
    cases = list(planned)
    if not likely_first or subject.mutant is None:
        return cases
    likely = subject.mutant.likely

    def key(item: tuple[Probe, Case, str]) -> tuple[int, int]:
        probe, case, _ = item
        return (likely.index(probe.code) if probe.code in likely else len(likely), max(case.budget.values()))

    return sorted(cases, key=key)


if __name__ == "__main__":
    main()
