"""Probe a trainer: run the ladder's cases over seeds until each has a verdict, then look at the whole signature."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import field
from functools import partial
from typing import Any

from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.definition import GAMMA, CannotJudge, Case, Probe, Query
from rlclinic.probes.ladder import LADDER, chosen_probes
from rlclinic.probes.load import as_factory, load_trainer
from rlclinic.probes.localise import localise
from rlclinic.probes.portrait import Portrait, draw_portrait, why_not
from rlclinic.probes.result import CaseResult, ProbeReport, answers_of
from rlclinic.probes.seed_run import Job, SeedResult, given_of, run_seed
from rlclinic.probes.verdict import decide, most_seeds_needed
from rlclinic.probes.workers import STALL_SECONDS, Workers

FIRST_SEED = 5000
"""Apart from the seeds that budgets and tolerances were tuned on (1000 to 1031)."""
MOST_ERRORS = 2
"""Seeds that may raise or hang before a case is given up as not judged."""
UNGUARDED = (
    "the factory cannot be sent to another process, so all seeds ran in this one: a trainer that hangs or ends the "
    "process is not caught; name it as package.module:make_trainer to have it caught"
)

Progress = Callable[[int, int, str], None]


@dataclass(slots=True)
class _Running:
    """A case that is being run."""

    probe: Probe
    case: Case
    queries: tuple[Query, ...]
    job: Callable[[int], Job]
    started: int = 0
    seeds: list[SeedResult] = field(default_factory=list)
    reason: str = ""

    def outcome(self, *, quick: bool) -> Any:
        """The verdict, once there is one."""
        errors = [seed for seed in self.seeds if seed.error]
        if len(errors) >= (1 if self.probe.exact or (errors and errors[0].error == "cannot-judge") else MOST_ERRORS):
            first = errors[0]
            at = f" at step {first.steps}" if first.steps else ""
            self.reason = f"{first.error}{at}: {first.message}" if first.error != "cannot-judge" else first.message
            return "not-judged"
        right, wrong = self._counts()
        return decide(right, wrong, quick=quick, exact=self.probe.exact)

    def wanted(self, *, quick: bool) -> int:
        """Seeds to start now."""
        if self.outcome(quick=quick) is not None:
            return 0
        right, wrong = self._counts()
        running = self.started - len(self.seeds)
        return most_seeds_needed(right, wrong, quick=quick, exact=self.probe.exact) - running

    def _counts(self) -> tuple[int, int]:
        judged = [seed.passed for seed in self.seeds if not seed.error]
        return sum(judged), len(judged) - sum(judged)


def run_probes(
    trainer: Any,
    probes: tuple[Probe, ...],
    *,
    gamma: float = GAMMA,
    preflight: bool = False,
    locate: bool = False,
    processes: int = 2,
    stall_seconds: float = STALL_SECONDS,
    first_seed: int = FIRST_SEED,
    progress: Progress = lambda *_: None,
) -> ProbeReport:
    """Probe a trainer, given by name (`sb3:PPO`) or as a factory. With `processes=0` all runs in this process.

    With `locate` a failure is followed up: the probes that tell the suspected components apart are run too. Every case
    takes its seeds from `first_seed` on.
    """
    if not 0.0 < gamma < 1.0:
        raise UsageError(f"gamma is {gamma:g}, but the probes need it between 0 and 1", hint="the default is 0.7")
    began = time.monotonic()
    name = trainer if isinstance(trainer, str) else getattr(trainer, "__name__", type(trainer).__name__)
    unguarded = bool(processes) and not isinstance(trainer, str) and not _travels(trainer)
    if unguarded:
        processes = 0
    with ExitStack() as stack:
        if processes:
            workers = stack.enter_context(Workers(trainer, processes, stall_seconds))
            portrait, work = workers.portrait(), partial(_work, workers)
        else:
            factory = load_trainer(trainer) if isinstance(trainer, str) else as_factory(trainer)
            portrait, work = draw_portrait(factory), partial(_work_here, factory)
        judged = partial(_judged, portrait, gamma, first_seed, preflight, partial(work, progress=progress))
        results, seeds = judged(probes)
        found = localise(results, portrait, gamma)
        while locate and found.separating:
            more = judged(chosen_probes((found.separating,)))
            results, seeds = [*results, *more[0]], [*seeds, *more[1]]
            found = localise(results, portrait, gamma)
    problems = (*_problems(portrait, seeds), *([UNGUARDED] if unguarded else []))
    order = [(probe.code, case.name) for probe in LADDER for case in probe.cases]
    in_order = tuple(sorted(results, key=lambda result: order.index((result.code, result.case))))
    return ProbeReport(
        trainer=name,
        gamma=gamma,
        portrait=portrait,
        results=in_order,
        suspicions=found.suspicions,
        separating=found.separating,
        settling=found.settling,
        problems=problems,
        seconds=time.monotonic() - began,
        preflight=preflight,
    )


def _judged(
    portrait: Portrait,
    gamma: float,
    first_seed: int,
    quick: bool,  # noqa: FBT001
    work: Callable[..., None],
    probes: tuple[Probe, ...],
) -> tuple[list[CaseResult], list[list[SeedResult]]]:
    """A result for every case, with the seeds of those that were run in worlds without chance."""
    running, results = _plan(portrait, probes, gamma, first_seed)
    work(running, quick)
    comparable = [item.seeds for item in running if not item.case.world.by_chance]
    return [*results, *(_finished(item, quick) for item in running)], comparable


def _work_here(factory: Any, running: list[_Running], quick: bool, progress: Progress) -> None:  # noqa: FBT001
    for done, item in enumerate(running):
        progress(done, len(running), f"{item.probe.code} {item.case.name}")
        while item.wanted(quick=quick) > 0:
            item.seeds.append(run_seed(item.case, item.job(item.started), factory))
            item.started += 1


def _plan(
    portrait: Portrait, probes: tuple[Probe, ...], gamma: float, first_seed: int
) -> tuple[list[_Running], list[CaseResult]]:
    running, results = [], []
    for probe in probes:
        for case in probe.cases:
            reason = portrait.problem or why_not(case, portrait)
            if reason:
                verdict: Any = "not-judged" if portrait.problem else "skipped"
                results.append(CaseResult(probe.code, case.name, verdict, reason))
                continue
            try:
                running.append(_prepared(probe, case, portrait, gamma, first_seed))
            except CannotJudge as error:
                results.append(CaseResult(probe.code, case.name, "not-judged", error.message))
    return running, results


def _prepared(probe: Probe, case: Case, portrait: Portrait, gamma: float, first_seed: int) -> _Running:
    family = portrait.family
    kind = portrait.actions[0] if case.actions == "any" else case.actions
    known = {name: value for name, value in case.settings(family).items() if name not in portrait.unknown}

    def job(number: int) -> Job:
        return Job(probe.code, case.name, first_seed + number, gamma, family, kind, known)

    return _Running(probe, case, case.questions(given_of(case, job(0))), job)


def _work(workers: Workers, running: list[_Running], quick: bool, progress: Progress) -> None:  # noqa: FBT001
    by_name = {(item.probe.code, item.case.name): item for item in running}
    while True:
        for item in running:
            for _ in range(item.wanted(quick=quick)):
                if workers.free() <= 0:
                    break
                workers.submit(item.job(item.started))
                item.started += 1
        received = False
        for job, result in workers.results():
            received = True
            item = by_name[job.code, job.case]
            item.seeds.append(result)
            done = sum(other.outcome(quick=quick) is not None for other in running)
            progress(done, len(running), f"{job.code} {job.case}")
        if not received:
            return


def _finished(item: _Running, quick: bool) -> CaseResult:  # noqa: FBT001
    seeds = tuple(sorted(item.seeds, key=lambda seed: seed.seed))
    verdict = item.outcome(quick=quick)
    answers = answers_of(item.queries, seeds)
    if verdict == "pass" and any(answer.reading is None for answer in answers) and not any(a.right for a in answers):
        verdict, item.reason = "not-judged", "the trainer reports none of the numbers that are asked for"
    return CaseResult(item.probe.code, item.case.name, verdict, item.reason, answers, seeds)


def _problems(portrait: Portrait, seeds: list[list[SeedResult]]) -> tuple[str, ...]:
    found = [portrait.problem] if portrait.problem else []
    compared = [[seed for seed in group if seed.fingerprint] for group in seeds]
    compared = [group for group in compared if len(group) > 1]
    # Several probes must agree: a deterministic policy may act alike in one of them.
    same = [group for group in compared if len({seed.fingerprint for seed in group}) == 1]
    alike = [group for group in same if all(seed.untrained == group[0].untrained and seed.untrained for seed in group)]
    if len(compared) > 1 and len(alike) == len(compared):
        found.append("the trainer ignores its seed: every seed took the same first actions and read the same numbers")
    return tuple(found)


def _travels(trainer: Any) -> bool:
    """Can the factory be sent to another process?"""
    try:
        pickle.dumps(trainer)
    except Exception:  # whatever pickling a stranger's object raises
        return False
    return getattr(trainer, "__module__", "") != "__main__"
