"""Score the record: `make bench-probes`. Localisation is computed anew from the stored readings.

A mutant is killed when a probe fails, or when the ladder reports that the trainer raised or misused the environment.
It is localised when the first component named is the planted one. That counts once the static contracts are recorded
and the localiser asks for no further probe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench.probes import store
from bench.probes.frozen import noticed
from bench.probes.subjects import Subject, all_subjects, case_digest
from rlclinic.probes.definition import GAMMA, CannotJudge, Case, Given
from rlclinic.probes.ladder import LADDER
from rlclinic.probes.localise import Localisation, localise
from rlclinic.probes.portrait import Portrait, draw_portrait, why_not
from rlclinic.probes.result import CaseResult, Suspicion, answers_of
from rlclinic.probes.seed_run import Job, given_of
from rlclinic.probes.settings import Family

REPORTED = ("raised", "wrong-shape", "environment-misused", "hung", "died")
"""Errors that the ladder reports as the trainer's fault."""
TOP = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the ladder says about one subject."""

    subject: Subject
    results: tuple[CaseResult, ...]
    rows: tuple[Mapping[str, Any], ...]
    whole: bool
    """Is every case that applies recorded?"""
    suspicions: tuple[Suspicion, ...]
    separating: str
    """The case that the localiser asks for."""
    settled: bool
    """Are the static contracts recorded, and does the localiser ask for nothing more?"""

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """Cases that failed, or in which the trainer was at fault."""
        return tuple(result for result in self.results if result.verdict == "fail" or is_reported(result.reason))

    @property
    def killed_when_frozen(self) -> bool:
        """Did the ladder of that time notice anything?"""
        return any(noticed(result) for result in self.failed)

    @property
    def judged(self) -> int:
        """Cases with a verdict."""
        return sum(result.verdict in ("pass", "fail") for result in self.results)

    @property
    def killed(self) -> bool:
        """Did the ladder notice anything?"""
        return bool(self.failed)

    @property
    def rank(self) -> int | None:
        """Place of the planted component among those named, from 1."""
        wanted = self.subject.mutant.components if self.subject.mutant else ()
        places = [at for at, suspicion in enumerate(self.suspicions, start=1) if suspicion.component in wanted]
        return places[0] if places else None


def outcomes() -> list[Outcome]:
    """One per subject that the record knows with its present code, in the order of the subjects."""
    rows = store.rows()
    known = {name for name, _, _ in rows}
    found = [outcome_of(subject, rows) for subject in all_subjects() if subject.name in known]
    return [outcome for outcome in found if outcome.results]


def outcome_of(subject: Subject, record: store.Rows) -> Outcome:
    """What the record comes to for one subject."""
    digest = subject.digest()
    rows = [row for (name, _, _), row in record.items() if name == subject.name]
    kept: list[tuple[Mapping[str, Any], CaseResult]] = []
    for row in rows:
        case = _cases().get((row["code"], row["case"]))
        if case is None or row["trainer_digest"] != digest:
            continue
        given = _given(row["code"], case, row["family"], row["actions"])
        if given is None or _digest(row["code"], row["case"], row["family"], row["actions"]) != row["case_digest"]:
            continue
        seeds = tuple(store.seed_of(seed) for seed in row["seeds"])
        answers = answers_of(case.questions(given), seeds)
        kept.append((row, CaseResult(row["code"], row["case"], row["verdict"], row["reason"], answers, seeds)))
    order = list(_cases())
    kept.sort(key=lambda item: order.index((item[1].code, item[1].case)))
    results = tuple(result for _, result in kept)
    whole = bool(kept) and len(kept) >= max(row["planned"] for row, _ in kept)
    found, settled = Localisation(), False
    if any(result.verdict == "fail" for result in results):
        portrait = portrait_of(subject.trainer)
        found = localise(results, portrait, GAMMA)
        settled = not found.separating and _static_cases(portrait) <= {(r.code, r.case) for r in results}
    stored = tuple(row for row, _ in kept)
    return Outcome(subject, results, stored, whole, found.suspicions, found.separating, settled or whole)


def left_out(outcome: Outcome) -> tuple[Suspicion, ...]:
    """What is suspected when the table does not know the planted bug: the fault that fits it best is left out."""
    rank = outcome.rank
    if rank is None:
        return outcome.suspicions
    own = frozenset({outcome.suspicions[rank - 1].fault})
    return localise(outcome.results, portrait_of(outcome.subject.trainer), GAMMA, own).suspicions


@cache
def portrait_of(trainer: str) -> Portrait:
    """What a trainer can do; no mutant changes that."""
    return draw_portrait(Subject(trainer, trainer).factory())


def _static_cases(portrait: Portrait) -> set[tuple[str, str]]:
    return {
        (probe.code, case.name)
        for probe in LADDER
        for case in probe.cases
        if probe.exact and not why_not(case, portrait)
    }


@cache
def _cases() -> Mapping[tuple[str, str], Case]:
    return {(probe.code, case.name): case for probe in LADDER for case in probe.cases}


def _given(code: str, case: Case, family: Family, actions: str) -> Given | None:
    if family not in case.budget:
        return None
    kind = actions if case.actions == "any" else case.actions
    return given_of(case, Job(code, case.name, 0, GAMMA, family, kind, {}))


@cache
def _digest(code: str, name: str, family: Family, actions: str) -> str:
    case = _cases()[code, name]
    given = _given(code, case, family, actions)
    try:
        return case_digest(code, case, given) if given else ""
    except CannotJudge:
        return ""


def is_reported(reason: str) -> bool:
    """Does the ladder say that the trainer is at fault, although it has no verdict?"""
    return reason.startswith(REPORTED)
