"""The runs that are left alone, and the one remark that may be made on them."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Severity
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority, Safety
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.decisive_evidence import has_specific_finding
from rlclinic.prescriptions.proposals.impact import has_goal
from rlclinic.prescriptions.proposals.proposal import Proposal
from rlclinic.prescriptions.remedies.table import Stage
from rlclinic.prescriptions.wording import begun, fill

# From here on `nothing-wrong` leaves a run alone that is flat below its goal, if no cause has half as much.
FINE = 0.3
HALF = 0.5
# A remark needs this much.
WORTH_SAYING = 0.15
# Verdicts that say nothing bad about learning, and causes that need no remedy under them.
GOOD = frozenset({Verdict.SOLVED, Verdict.LEARNING, Verdict.INSUFFICIENT_DATA, Verdict.INTERRUPTED})
HARMLESS = frozenset({NOTHING_WRONG, "already-solved", "budget-too-small"})


def is_healthy(assessment: Assessment, lead: Cause, proposals: Sequence[Proposal]) -> bool:
    """Whether a run is left alone: not one that missed a known goal in its whole budget or whose return is constant."""
    if assessment.verdict is Verdict.SOLVED:
        return True
    if assessment.status.missed or assessment.is_constant:
        return False
    if assessment.verdict in GOOD:
        return lead.id in HARMLESS
    flat = assessment.verdict is Verdict.PLATEAUED and lead.id == NOTHING_WRONG and lead.probability >= FINE
    return flat and all(item.probability < HALF * lead.probability for item in proposals)


def optional_remark(
    assessment: Assessment, proposals: Sequence[Proposal], faster: Sequence[Proposal]
) -> tuple[Prescription, ...]:
    """At most one remark: what is missing to judge the run, what is known to hold it back, or that it may go on."""
    wanted = [item for item in proposals if _is_worth_saying(assessment, item)]
    if faster and not any(item.stage is Stage.FACTS or _holds_back(assessment, item) for item in wanted):
        wanted = [faster[0]]
    if not wanted:
        is_over = assessment.status.budget_used or assessment.verdict is Verdict.PLATEAUED
        return (_look(assessment),) if is_over else ()
    first = min(wanted, key=lambda item: _rank(assessment, item))
    is_budget = first.stage is Stage.BUDGET
    choice = "Optional, if the return is not enough yet" if is_budget else "Optional"
    choice = "To judge it" if is_budget and assessment.verdict is Verdict.INSUFFICIENT_DATA else choice
    remark = first.reworded(priority=Priority.LOW, instruction=f"{choice}: {begun(first.prescription.instruction)}")
    if is_budget:
        # Going on is the user's choice: nothing that a tool should write into a healthy run's config.
        remark = remark.reworded(
            kind=PrescriptionKind.CHECK, safety=Safety.ADVICE, changes=(), native=None, expected_impact=None
        )
    return (remark.prescription,)


def _look(assessment: Assessment) -> Prescription:
    """What no log of a trainer tells: whether the return that it learned is what its user wants."""
    goal = "" if has_goal(assessment) else " Name the return that you are after with `--goal`."
    look = (
        "watch three episodes of the last policy, to see that it does what you want. A reward that pays for something "
        f"else looks the same in every log; {fill('{examine}', assessment)} compares what random, constant and "
        "scripted play earn."
    )
    if assessment.is_language_model:
        look = "read ten answers with the highest and ten with the lowest score: what pays must be what you want."
    return Prescription(
        priority=Priority.LOW,
        kind=PrescriptionKind.CHECK,
        instruction=f"Optional: {look}{goal}",
        rationale=f"The verdict is {assessment.verdict.value}, and no goal says that the run is done.",
        expected_impact=None,
        risk="None: it only looks.",
        safety=Safety.ADVICE,
        causes=(UNKNOWN,),
        watch=("return/eval",) if assessment.is_language_model else ("return/eval", "episode_length"),
    )


def _rank(assessment: Assessment, item: Proposal) -> tuple[bool, bool, float]:
    return item.stage is not Stage.FACTS, not _holds_back(assessment, item), -item.probability


def _is_worth_saying(assessment: Assessment, item: Proposal) -> bool:
    if assessment.verdict is Verdict.SOLVED and item.stage is not Stage.FACTS:
        return False
    likely = item.probability >= WORTH_SAYING and item.stage in (Stage.FACTS, Stage.BUDGET)
    return likely or _holds_back(assessment, item)


def _holds_back(assessment: Assessment, item: Proposal) -> bool:
    """Whether a sure sign, or a value that nobody works with, shows what slows a run that learns all the same."""
    least = Severity.WARNING if assessment.status.barely_moved else Severity.ERROR
    far_off = item.is_far_off and assessment.status.budget_used
    return bool(item.changes) and (far_off or has_specific_finding(item.cause.id, item.evidence, least=least))
