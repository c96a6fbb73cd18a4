"""Run the cases of the ladder on one subject, each to its verdict."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.probes.subjects import Subject, case_digest
from rlclinic.probes.definition import GAMMA, CannotJudge, Case, Probe
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.portrait import Portrait, draw_portrait, why_not
from rlclinic.probes.run import FIRST_SEED, MOST_ERRORS
from rlclinic.probes.seed_run import Job, SeedResult, given_of, run_seed
from rlclinic.probes.verdict import decide


@dataclass(frozen=True, slots=True)
class Examined:
    """One case of one subject."""

    code: str
    case: str
    digest: str
    verdict: str
    reason: str
    seeds: tuple[SeedResult, ...]
    seconds: float


class Examination:
    """A subject with its portrait."""

    def __init__(self, subject: Subject, *, quick: bool) -> None:
        self.subject, self.quick = subject, quick
        self.factory = subject.factory()
        self.portrait: Portrait = draw_portrait(self.factory)

    def planned(self) -> Iterator[tuple[Probe, Case, str]]:
        """The cases that apply, with the digest of each."""
        for probe in LADDER:
            for case in probe.cases:
                if why_not(case, self.portrait):
                    continue
                try:
                    yield probe, case, case_digest(probe.code, case, given_of(case, self.job(probe, case, FIRST_SEED)))
                except CannotJudge:
                    continue

    def job(self, probe: Probe, case: Case, seed: int) -> Job:
        """One seed of a case, with the settings that the trainer knows."""
        family = self.portrait.family
        kind = self.portrait.actions[0] if case.actions == "any" else case.actions
        known = {k: v for k, v in case.settings(family).items() if k not in self.portrait.unknown}
        return Job(probe.code, case.name, seed, GAMMA, family, kind, known)

    def examine(self, probe: Probe, case: Case, digest: str) -> Examined:
        """Seed after seed until there is a verdict."""
        began = time.process_time()
        seeds: list[SeedResult] = []
        verdict, reason = None, ""
        while verdict is None:
            seeds.append(run_seed(case, self.job(probe, case, FIRST_SEED + len(seeds)), self.factory))
            verdict, reason = self._verdict(probe, seeds)
        return Examined(probe.code, case.name, digest, verdict, reason, tuple(seeds), time.process_time() - began)

    def _verdict(self, probe: Probe, seeds: list[SeedResult]) -> tuple[Any, str]:
        errors = [seed for seed in seeds if seed.error]
        if len(errors) >= (1 if probe.exact or (errors and errors[0].error == "cannot-judge") else MOST_ERRORS):
            return "not-judged", f"{errors[0].error}: {errors[0].message}"
        right = sum(seed.passed for seed in seeds if not seed.error)
        return decide(right, len(seeds) - len(errors) - right, quick=self.quick, exact=probe.exact), ""
