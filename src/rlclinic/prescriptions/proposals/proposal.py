"""From a cause to what would be done about it: the first option of its remedy that fits the run and is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.effect import Direction
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Change, Impact, Native, Prescription, PrescriptionKind, Priority, Safety
from rlclinic.model.vocabulary import has_metric
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.class_tests import class_test
from rlclinic.prescriptions.checks.constraints import fitted, problems
from rlclinic.prescriptions.checks.decisive_evidence import has_specific_finding, is_far_off
from rlclinic.prescriptions.checks.guards import objection
from rlclinic.prescriptions.proposals.effects import Effects
from rlclinic.prescriptions.proposals.impact import PlannedChange, impact_of, priority_of
from rlclinic.prescriptions.proposals.native_settings import native_settings
from rlclinic.prescriptions.proposals.option import fits, main_keys, option_changes, unwritable
from rlclinic.prescriptions.proposals.written import change_of, native_of, with_written_keys
from rlclinic.prescriptions.remedies.snippets import snippet
from rlclinic.prescriptions.remedies.table import Reach, Remedy, RemedyOption, Stage, remedies
from rlclinic.prescriptions.wording import config_instruction, fill, rationale

# Verdicts under which a blocking cause means that the run cannot converge as it is.
STUCK = frozenset(
    {Verdict.CRASHED, Verdict.MISCONFIGURED, Verdict.COLLAPSED, Verdict.NOT_LEARNING, Verdict.REWARD_HACKING}
)
# From here on a cause counts as established; a finding this sure establishes a cause that is likely as well.
ESTABLISHED = 0.5
LIKELY = 0.25
SURE = 0.9
DEFAULT_ALREADY = "That is the framework's default, so it helps only if another value was set."


@dataclass(frozen=True, slots=True)
class Proposal:
    """A remedy worked out for this run, not yet chosen."""

    cause: Cause
    remedy: Remedy
    evidence: tuple[Finding, ...]
    prescription: Prescription
    is_far_off: bool = False
    """Whether it takes a setting back that no working config comes near."""

    @property
    def is_decisive(self) -> bool:
        """Whether its evidence singles it out, so that no test has to come first."""
        return self.is_far_off or has_specific_finding(self.cause.id, self.evidence)

    @property
    def stage(self) -> Stage:
        """Where it stands in the order of a careful expert."""
        return self.remedy.stage

    @property
    def probability(self) -> float:
        """That of its cause."""
        return self.cause.probability

    @property
    def priority(self) -> Priority:
        """That of its prescription."""
        return self.prescription.priority

    @property
    def is_check(self) -> bool:
        """Whether it only looks."""
        return self.prescription.kind is PrescriptionKind.CHECK

    @property
    def changes(self) -> tuple[Change, ...]:
        """Empty where it is no change of the config."""
        return self.prescription.changes

    @property
    def signature(self) -> tuple[object, ...]:
        """What it does, to tell remedies apart."""
        return tuple((change.key, repr(change.after)) for change in self.changes) or (self.prescription.instruction,)

    def as_far_off(self) -> Proposal:
        """The same, as one that takes a setting back that no working config comes near."""
        return replace(self, is_far_off=True)

    def reworded(self, **fields: Any) -> Proposal:
        """The same remedy, worded or ranked otherwise."""
        return replace(self, prescription=replace(self.prescription, **fields))


def proposal_of(
    assessment: Assessment, cause: Cause, effects: Effects, *, treats: frozenset[str] = frozenset()
) -> Proposal | None:
    """What would be done about a cause; None where nothing is to be done. `treats` adds causes with the same remedy."""
    remedy = remedies().get(cause.id)
    if remedy is None or not remedy.options:
        return None
    draft = _Draft(assessment, cause, remedy, _evidence(assessment, cause), effects, treats | {cause.id})
    for index, option in enumerate(remedy.options):
        prescription = draft.prescription(option) if fits(assessment, option) else None
        if prescription is not None:
            return draft.proposal(prescription, passed=remedy.options[:index])
    # The settings do not show the cause, or are not known: only a test can tell.
    return draft.proposal(draft.test(class_test(assessment, cause.cause_class, cause.id)), passed=remedy.options)


def is_sure(evidence: Sequence[Finding]) -> bool:
    """Whether an error that a rule is sure of is among the evidence."""
    return any(finding.severity is Severity.ERROR and finding.confidence >= SURE for finding in evidence)


def _evidence(assessment: Assessment, cause: Cause) -> tuple[Finding, ...]:
    by_code = {finding.code: finding for finding in assessment.findings.values()}
    found = [by_code[code] for text in cause.supports if (code := text.split()[0]) in by_code]
    return tuple(sorted(dict.fromkeys(found), key=lambda item: (-item.severity.rank, -item.confidence)))


@dataclass(frozen=True, slots=True)
class _Draft:
    """A cause on its way to a proposal."""

    assessment: Assessment
    cause: Cause
    remedy: Remedy
    evidence: tuple[Finding, ...]
    effects: Effects
    treats: frozenset[str]

    def proposal(self, prescription: Prescription, passed: Sequence[RemedyOption]) -> Proposal:
        """The proposal, which says why the config changes that would come before it cannot be written."""
        reason = "" if prescription.changes else unwritable(self.assessment, passed)
        if reason:
            told = f"{prescription.rationale} The config cannot say it: {reason}."
            prescription = replace(prescription, rationale=told)
        far_off = is_far_off(self.assessment, prescription.changes, self.evidence)
        return Proposal(self.cause, self.remedy, self.evidence, prescription, far_off)

    def prescription(self, option: RemedyOption) -> Prescription | None:
        """What an option comes to in this run; None where it has nothing to offer."""
        if option.kind is not PrescriptionKind.CONFIG:
            impact = self._impact(option, option.snippet, "set")
            return self._made(option, fill(option.instruction, self.assessment), impact)
        wanted = option_changes(self.assessment, option)
        refused = objection(self.assessment, self.cause, wanted)
        if refused is not None:
            return self.test(refused)
        fitting = fitted(self.assessment, wanted)
        if not fitting or problems(self.assessment, fitting):
            return None
        written = (change_of(self.assessment, change) for change in native_settings(self.assessment, fitting))
        changes = tuple(change for change in written if change is not None)
        if not changes or changes[0].key not in main_keys(self.assessment, wanted):
            return None
        native = native_of(self.assessment.run, changes)
        if native is None:
            return None
        changes = with_written_keys(self.assessment.run, changes)
        impact = self._impact(option, changes[0].key, _direction(changes[0]), changes)
        return self._made(option, config_instruction(changes, self._note(option, changes)), impact, changes, native)

    def _note(self, option: RemedyOption, changes: Sequence[Change]) -> str:
        """What the option adds; where a value is not known, that the new one may be in force already."""
        unset = [change for change in changes if change.before is None]
        already = unset and all(change.after == self.assessment.default_number(change.key) for change in unset)
        return f"{DEFAULT_ALREADY} {option.note}".strip() if already else option.note

    def test(self, instruction: str) -> Prescription:
        """A test instead of a change."""
        return Prescription(
            priority=Priority.MEDIUM if self.assessment.verdict in STUCK else Priority.LOW,
            kind=PrescriptionKind.CHECK,
            instruction=fill(instruction, self.assessment),
            rationale=rationale(self.assessment, self.cause, self.evidence, self.remedy.watch),
            expected_impact=None,
            risk="None: it only looks.",
            safety=Safety.ADVICE,
            causes=(self.cause.id,),
            watch=self._watch,
        )

    def _made(
        self,
        option: RemedyOption,
        instruction: str,
        impact: Impact | None,
        changes: tuple[Change, ...] = (),
        native: Native | None = None,
    ) -> Prescription:
        return Prescription(
            priority=self._priority(impact),
            kind=option.kind,
            instruction=instruction,
            rationale=rationale(self.assessment, self.cause, self.evidence, self.remedy.watch, changes),
            expected_impact=None if option.kind is PrescriptionKind.CHECK else impact,
            risk=option.risk,
            safety=option.safety,
            causes=(self.cause.id,),
            changes=changes,
            native=native,
            code=snippet(option.snippet, self.assessment.run.framework) if option.snippet else "",
            watch=self._watch,
        )

    def _impact(
        self, option: RemedyOption, key: str, direction: Direction, changes: Sequence[Change] = ()
    ) -> Impact | None:
        reach = self.remedy.reach
        if reach is Reach.NOTHING:
            return None
        # A fault that is surely there costs something under any other cause too: the farther off, the more.
        elsewhere = Reach.SMALL if has_specific_finding(self.cause.id, self.evidence) else None
        if is_far_off(self.assessment, changes, self.evidence):
            elsewhere = Reach.MILD
        planned = PlannedChange(key, direction, reach, option.safety, self.treats, self.remedy.metric, elsewhere)
        return impact_of(self.assessment, planned, self.effects)

    def _priority(self, impact: Impact | None) -> Priority:
        least = LIKELY if is_sure(self.evidence) else ESTABLISHED
        established = self.cause.probability >= least
        if self.remedy.reach is Reach.BLOCKING and self.assessment.verdict in STUCK and established:
            return Priority.CRITICAL
        return priority_of(impact)

    @property
    def _watch(self) -> tuple[str, ...]:
        """The metrics of the remedy that this run logs, or all where it logs none of them."""
        logged = tuple(name for name in self.remedy.watch if name in self.assessment.run)
        return logged or tuple(name for name in self.remedy.watch if has_metric(self.assessment.run.algorithm, name))


def _direction(change: Change) -> Direction:
    before, after = change.before, change.after
    if isinstance(before, int | float) and isinstance(after, int | float) and not isinstance(after, bool):
        return "up" if after > before else "down"
    return "set"
