"""From a cause to what would be done about it: the first row of its remedy that fits the run and is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.effect import Direction
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.prescription import Change, Impact, Prescription, PrescriptionKind, Priority, Safety
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.checks import check_of
from rlclinic.prescriptions.constraints import fitted, problems
from rlclinic.prescriptions.conviction import has_telling_sign, is_far_off
from rlclinic.prescriptions.effects import Effects
from rlclinic.prescriptions.guards import objection
from rlclinic.prescriptions.impact import Move, impact_of, priority_of
from rlclinic.prescriptions.levers import turned
from rlclinic.prescriptions.native import native_of, with_written_keys
from rlclinic.prescriptions.proposal import fits, main_keys, proposed
from rlclinic.prescriptions.remedies import Reach, Remedy, Row, Stage, remedies
from rlclinic.prescriptions.snippets import snippet
from rlclinic.prescriptions.unwritable import unwritable
from rlclinic.prescriptions.wording import config_instruction, fill, rationale
from rlclinic.prescriptions.written import change_of

# Verdicts under which a blocking cause means that the run cannot converge as it is.
STUCK = frozenset(
    {Verdict.CRASHED, Verdict.MISCONFIGURED, Verdict.COLLAPSED, Verdict.NOT_LEARNING, Verdict.REWARD_HACKING}
)
# From here on a cause counts as established; a finding this sure establishes a cause that is likely as well.
ESTABLISHED = 0.5
LIKELY = 0.25
SURE = 0.9


@dataclass(frozen=True, slots=True)
class Candidate:
    """A remedy worked out for this run, not yet chosen."""

    cause: Cause
    stage: Stage
    mechanism: str
    reach: Reach
    evidence: tuple[Finding, ...]
    prescription: Prescription
    is_far_off: bool = False
    """Whether it takes a setting back that no working config comes near."""

    @property
    def is_convicted(self) -> bool:
        """Whether its evidence singles it out, so that no test has to come first."""
        return self.is_far_off or has_telling_sign(self.cause.id, self.evidence)

    @property
    def probability(self) -> float:
        return self.cause.probability

    @property
    def cause_class(self) -> str:
        return self.cause.cause_class

    @property
    def priority(self) -> Priority:
        return self.prescription.priority

    @property
    def watch(self) -> tuple[str, ...]:
        return self.prescription.watch

    @property
    def is_check(self) -> bool:
        return self.prescription.kind is PrescriptionKind.CHECK

    @property
    def signature(self) -> tuple[object, ...]:
        """What it does, to tell remedies apart."""
        changes = self.prescription.changes
        return tuple((c.key, repr(c.after)) for c in changes) or (self.prescription.instruction,)

    @property
    def arm(self) -> str:
        """The change as one arm of a trial."""
        return config_instruction(self.prescription.changes).rstrip(".") if self.prescription.changes else ""

    def with_prescription(self, prescription: Prescription) -> Candidate:
        """The same remedy, worded or ranked otherwise."""
        return replace(self, prescription=prescription)


def candidate_of(
    case: Case, cause: Cause, effects: Effects, *, treats: frozenset[str] = frozenset()
) -> Candidate | None:
    """What would be done about a cause; None where nothing is to be done. `treats` adds causes with the same remedy."""
    remedy = remedies().get(cause.id)
    if remedy is None:
        return None
    evidence, treated = _evidence(case, cause), treats | {cause.id}
    for index, row in enumerate(remedy.rows):
        if not fits(case, row):
            continue
        prescription = _prescription(case, cause, remedy, row, evidence, effects, treated)
        if prescription is not None:
            prescription = _with_reason(case, remedy.rows[:index], prescription)
            far_off = is_far_off(case, prescription.changes, evidence)
            return Candidate(cause, remedy.stage, remedy.mechanism, remedy.reach, evidence, prescription, far_off)
    if not remedy.rows:
        return None
    # The settings do not show the cause, or are not known: only a test can tell.
    tested = _refused(case, cause, remedy, evidence, check_of(case, cause.cause_class, cause.id))
    tested = _with_reason(case, remedy.rows, tested)
    return Candidate(cause, remedy.stage, remedy.mechanism, remedy.reach, evidence, tested)


def _with_reason(case: Case, passed: Sequence[Row], prescription: Prescription) -> Prescription:
    """The same, saying why the config changes that would come before it cannot be written."""
    reason = unwritable(case, passed) if not prescription.changes else ""
    told = f"{prescription.rationale} The config cannot say it: {reason}."
    return replace(prescription, rationale=told) if reason else prescription


def is_sure(evidence: Sequence[Finding]) -> bool:
    """Whether an error that a rule is sure of is among the evidence."""
    return any(finding.severity is Severity.ERROR and finding.confidence >= SURE for finding in evidence)


def _evidence(case: Case, cause: Cause) -> tuple[Finding, ...]:
    by_code = {finding.code: finding for finding in case.findings.values()}
    found = [by_code[code] for text in cause.supports if (code := text.split()[0]) in by_code]
    return tuple(sorted(dict.fromkeys(found), key=lambda item: (-item.severity.rank, -item.confidence)))


def _prescription(
    case: Case,
    cause: Cause,
    remedy: Remedy,
    row: Row,
    evidence: tuple[Finding, ...],
    effects: Effects,
    treated: frozenset[str],
) -> Prescription | None:
    if row.kind is not PrescriptionKind.CONFIG:
        move = Move(row.snippet, "set", remedy.reach, row.safety, treated, elsewhere=_elsewhere(case, cause, evidence))
        impact = _impact(case, remedy, move, effects)
        return _instructed(case, cause, remedy, row, evidence, impact)
    turns = proposed(case, row)
    refused = objection(case, cause, turns)
    if refused is not None:
        return _refused(case, cause, remedy, evidence, refused)
    fitting = fitted(case, turns)
    if not fitting or problems(case, fitting):
        return None
    changes = tuple(change for turn in turned(case, fitting) if (change := change_of(case, turn)) is not None)
    if not changes or changes[0].key not in main_keys(case, turns):
        return None
    native = native_of(case.run, changes)
    if native is None:
        return None
    changes = with_written_keys(case.run, changes)
    elsewhere = _elsewhere(case, cause, evidence, changes)
    move = Move(changes[0].key, _direction(changes[0]), remedy.reach, row.safety, treated, elsewhere=elsewhere)
    impact = _impact(case, remedy, move, effects)
    return Prescription(
        priority=_priority(case, cause, remedy, evidence, impact),
        kind=row.kind,
        instruction=config_instruction(changes, row.note),
        rationale=rationale(case, cause, evidence, changes),
        expected_impact=impact,
        risk=row.risk,
        safety=row.safety,
        causes=(cause.id,),
        changes=changes,
        native=native,
        code=snippet(row.snippet, case.run.framework) if row.snippet else "",
        watch=_watch(case, remedy),
    )


def _instructed(
    case: Case, cause: Cause, remedy: Remedy, row: Row, evidence: tuple[Finding, ...], impact: Impact | None
) -> Prescription:
    check = row.kind is PrescriptionKind.CHECK
    return Prescription(
        priority=_priority(case, cause, remedy, evidence, impact),
        kind=row.kind,
        instruction=fill(row.instruction, case),
        rationale=rationale(case, cause, evidence, ()),
        expected_impact=None if check else impact,
        risk=row.risk,
        safety=row.safety,
        causes=(cause.id,),
        code=snippet(row.snippet, case.run.framework) if row.snippet else "",
        watch=_watch(case, remedy),
    )


def _refused(case: Case, cause: Cause, remedy: Remedy, evidence: tuple[Finding, ...], refused: str) -> Prescription:
    return Prescription(
        priority=Priority.MEDIUM if case.verdict in STUCK else Priority.LOW,
        kind=PrescriptionKind.CHECK,
        instruction=fill(refused, case),
        rationale=rationale(case, cause, evidence, ()),
        expected_impact=None,
        risk="None: it only looks.",
        safety=Safety.ADVICE,
        causes=(cause.id,),
        watch=_watch(case, remedy),
    )


def _impact(case: Case, remedy: Remedy, move: Move, effects: Effects) -> Impact | None:
    if remedy.reach is Reach.NOTHING:
        return None
    return impact_of(case, replace(move, metric=remedy.metric), effects)


def _priority(
    case: Case, cause: Cause, remedy: Remedy, evidence: tuple[Finding, ...], impact: Impact | None
) -> Priority:
    likely = cause.probability >= LIKELY and is_sure(evidence)
    established = likely or cause.probability >= ESTABLISHED
    if remedy.reach is Reach.BLOCKING and case.verdict in STUCK and established:
        return Priority.CRITICAL
    return priority_of(impact)


def _elsewhere(case: Case, cause: Cause, evidence: tuple[Finding, ...], changes: Sequence[Change] = ()) -> Reach | None:
    """A fault that is surely there costs something under any other cause too: the farther off, the more."""
    if is_far_off(case, changes, evidence):
        return Reach.MILD
    return Reach.SMALL if has_telling_sign(cause.id, evidence) else None


def _direction(change: Change) -> Direction:
    before, after = change.before, change.after
    if isinstance(before, int | float) and isinstance(after, int | float) and not isinstance(after, bool):
        return "up" if after > before else "down"
    return "set"


def _watch(case: Case, remedy: Remedy) -> tuple[str, ...]:
    """What to watch: the metrics of the remedy that this run logs, or all where it logs none of them."""
    logged = tuple(name for name in remedy.watch if name in case.run)
    return logged or remedy.watch
