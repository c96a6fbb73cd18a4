"""What a probing found: per probe and case the verdict with its readings, and what it points to."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any, Literal, TypeAlias

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.definition import Probe, Query, Wrong
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.portrait import Portrait
from rlclinic.probes.seed_run import SeedResult

Verdict: TypeAlias = Literal["pass", "fail", "skipped", "not-judged"]
SCHEMA = "rlclinic.probe/1"


@dataclass(frozen=True, slots=True)
class Answer:
    """One query over all seeds."""

    query: Query
    reading: float | None
    """Median over the seeds; where most are wrong and the median is not, a wrong one."""
    untrained: float | None
    nearest: Wrong | None
    """The wrong answer that the reading is closest to, where it is nearer than the truth."""

    @property
    def right(self) -> bool:
        """Is the median within the tolerance?"""
        return self.reading is not None and abs(self.reading - self.query.truth) <= self.query.tolerance


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case of a probe."""

    code: str
    case: str
    verdict: Verdict
    reason: str = ""
    """Why it was skipped or could not be judged."""
    answers: tuple[Answer, ...] = ()
    seeds: tuple[SeedResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A component that the signature points to."""

    component: str
    weight: float
    """Share of the likelihood; all suspicions sum to 1."""
    fault: str
    title: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The whole outcome."""

    trainer: str
    gamma: float
    portrait: Portrait
    results: tuple[CaseResult, ...]
    suspicions: tuple[Suspicion, ...] = ()
    separating: str = ""
    """The smallest further probe that would tell the first suspicion from others."""
    settling: str = ""
    """Methods that the trainer does not offer and that would let a static contract tell them apart."""
    problems: tuple[str, ...] = ()
    """What the trainer does wrong apart from its answers."""
    seconds: float = 0.0
    preflight: bool = False

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """The cases that failed."""
        return tuple(result for result in self.results if result.verdict == "fail")

    @property
    def judged(self) -> tuple[CaseResult, ...]:
        """The cases that passed or failed."""
        return tuple(result for result in self.results if result.verdict in ("pass", "fail"))

    @property
    def not_looked_at(self) -> tuple[tuple[Probe, str], ...]:
        """Probes for trainers of this family of which no case was judged, and why."""
        judged = {result.code for result in self.judged}
        reasons = {result.code: result.reason for result in reversed(self.results)}
        return tuple(
            (probe, reasons.get(probe.code) or "left out")
            for probe in LADDER
            if probe.code not in judged and any(self.portrait.family in case.budget for case in probe.cases)
        )

    def to_json(self) -> dict[str, Any]:
        """The object of `rlclinic probe --json`."""
        return {
            "schema": SCHEMA,
            "trainer": self.trainer,
            "gamma": self.gamma,
            "preflight": self.preflight,
            "family": self.portrait.family,
            "verdict": "fail" if self.failed else "pass" if self.judged else "not-judged",
            "probes": [_case_json(result) for result in self.results],
            "components": [
                {
                    "component": s.component,
                    "weight": s.weight,
                    "fault": s.fault,
                    "title": s.title,
                    "reasons": list(s.reasons),
                }
                for s in self.suspicions
            ],
            "separating_probe": self.separating or None,
            "settling_method": self.settling or None,
            "not_looked_at": [
                {"code": probe.code, "name": probe.name, "components": list(probe.components), "reason": reason}
                for probe, reason in self.not_looked_at
            ],
            "problems": list(self.problems),
            "seconds": self.seconds,
        }


def answers_of(queries: tuple[Query, ...], seeds: tuple[SeedResult, ...]) -> tuple[Answer, ...]:
    """Medians over seeds, each with the wrong answer it is nearest to."""
    found = []
    for query in queries:
        values = [seed.readings[query.name] for seed in seeds if query.name in seed.readings]
        before = [seed.untrained[query.name] for seed in seeds if query.name in seed.untrained]
        reading = _typical(query, values) if values else None
        found.append(Answer(query, reading, median(before) if before else None, _nearest(query, reading, before)))
    return tuple(found)


def _typical(query: Query, values: list[float]) -> float:
    """The median. Where most seeds are wrong to either side, it may look right: then the middle one of the wrong."""
    middle = median(values)
    wrong = [value for value in values if not abs(value - query.truth) <= query.tolerance]
    if abs(middle - query.truth) <= query.tolerance and 2 * len(wrong) > len(values):
        return sorted(wrong, key=lambda value: abs(value - query.truth))[len(wrong) // 2]
    return middle


def _nearest(query: Query, reading: float | None, before: list[float]) -> Wrong | None:
    if reading is None or abs(reading - query.truth) <= query.tolerance:
        return None
    candidates = list(query.wrong)
    if before and query.how != "contract":
        candidates.append(Wrong(median(before), "untrained"))
    best = min(candidates, key=lambda wrong: abs(wrong.value - reading), default=None)
    return best if best is not None and abs(best.value - reading) <= 2 * query.tolerance else None


def _case_json(result: CaseResult) -> dict[str, Any]:
    answers: list[Mapping[str, Any]] = [
        {
            "name": answer.query.name, "reading": answer.reading, "truth": answer.query.truth,
            "tolerance": answer.query.tolerance, "right": answer.right,
            "looks_like": answer.nearest.fault if answer.nearest else None,
        }
        for answer in result.answers
    ]  # fmt: skip
    errors = [
        {"seed": seed.seed, "kind": seed.error, "step": seed.steps, "message": seed.message}
        for seed in result.seeds
        if seed.error
    ]
    return {
        "code": result.code,
        "case": result.case,
        "verdict": result.verdict,
        "reason": result.reason,
        "answers": answers,
        "seeds": {
            "right": sum(seed.passed for seed in result.seeds),
            "run": len(result.seeds),
            "wrong": [seed.seed for seed in result.seeds if not (seed.passed or seed.error)],
        },
        "errors": errors,
        "env_steps": sum(seed.steps for seed in result.seeds),
        "seconds": sum(seed.seconds for seed in result.seeds),
    }
