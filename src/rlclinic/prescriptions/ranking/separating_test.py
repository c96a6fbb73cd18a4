"""The test that leads where the evidence does not tell causes of one class apart."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.numbers import percent
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority, Safety
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.checks.class_tests import UNCHANGED, class_test
from rlclinic.prescriptions.checks.decisive_evidence import did_badly
from rlclinic.prescriptions.proposals.proposal import LIKELY, Proposal, is_sure
from rlclinic.prescriptions.ranking.implicated import ALIKE
from rlclinic.prescriptions.remedies.table import Reach, Stage
from rlclinic.prescriptions.wording import config_instruction, rationale

BUG = "implementation-bug"
# Verdicts that leave the run some credit: a test is worth less there.
LENIENT = frozenset({Verdict.PLATEAUED, Verdict.UNSTABLE, Verdict.LEARNING})


def separating_test(assessment: Assessment, proposals: Sequence[Proposal]) -> Prescription | None:
    """The leading test, if one is needed; proposals come by probability."""
    if not proposals:
        return _test(assessment, UNKNOWN, ())
    lead = proposals[0]
    if lead.stage is Stage.FACTS or lead.is_check or (lead.remedy.reach is Reach.BLOCKING and is_sure(lead.evidence)):
        # Facts are acted on at once: looking at them is the test.
        return None
    if lead.is_far_off:
        # The setting tells the causes apart: it goes back to what works before anything else is tried.
        return None
    if is_open(assessment, proposals) and lead.probability < assessment.probability(UNKNOWN):
        # No setting shows the cause: a look at the environment costs minutes, a training hours.
        return _test(assessment, UNKNOWN, ())
    rivals = [other for other in proposals[1:] if _is_rival(lead, other)]
    close = [other for other in rivals if ALIKE * other.probability >= lead.probability]
    doubtful = max(assessment.probability(UNKNOWN), assessment.probability(NOTHING_WRONG)) >= lead.probability
    if close:
        return _test(assessment, lead.cause.cause_class, (lead, *close))
    if lead.is_decisive and did_badly(assessment):
        return None
    return _test(assessment, lead.cause.cause_class, (lead,)) if doubtful or lead.probability < LIKELY else None


def is_open(assessment: Assessment, proposals: Sequence[Proposal]) -> bool:
    """Whether a run did badly and neither a sure sign nor a setting says why."""
    if not did_badly(assessment) or assessment.is_language_model:
        return False
    if not proposals:
        return True
    lead = proposals[0]
    if lead.stage is Stage.FACTS or lead.is_far_off or lead.is_decisive:
        return False
    doubtful = assessment.probability(UNKNOWN) >= lead.probability or lead.probability < LIKELY
    return doubtful or lead.cause.id == BUG


def _is_rival(lead: Proposal, other: Proposal) -> bool:
    return other.cause.cause_class == lead.cause.cause_class and other.signature != lead.signature


def _test(assessment: Assessment, cause_class: str, members: tuple[Proposal, ...]) -> Prescription:
    names = " and ".join(dict.fromkeys(member.cause.id for member in members))
    instruction = class_test(assessment, cause_class, names, _arms(members), several=len(members) > 1)
    causes = tuple(member.cause.id for member in members) or (UNKNOWN,)
    default = Priority.LOW if assessment.verdict in LENIENT else Priority.MEDIUM
    urgent = min((member.priority for member in members), key=lambda priority: priority.rank, default=default)
    return Prescription(
        priority=urgent,
        kind=PrescriptionKind.CHECK,
        instruction=instruction,
        rationale=_why(assessment, members),
        expected_impact=None,
        risk="None: it only looks." if "train" not in instruction else "It costs the steps of the test.",
        safety=Safety.ADVICE,
        causes=causes,
        watch=tuple(dict.fromkeys(name for member in members for name in member.prescription.watch))[:4],
    )


def _arms(members: tuple[Proposal, ...]) -> str:
    sentences = (config_instruction(member.changes).rstrip(".") for member in members if member.changes)
    changes = list(dict.fromkeys(sentences))
    if not changes:
        return UNCHANGED
    listed = "; ".join(changes)
    return f"with each change alone, same seed ({listed})" if len(changes) > 1 else f"with one change ({listed})"


def _why(assessment: Assessment, members: tuple[Proposal, ...]) -> str:
    if not members:
        return f"The verdict is {assessment.verdict.value}, and the logs do not tell why."
    lead = members[0]
    shares = ", ".join(f"{member.cause.id} {percent(member.probability)}" for member in members)
    unsure = assessment.probability(UNKNOWN)
    rest = f", an unknown cause {percent(unsure)}" if len(members) == 1 and unsure else ""
    ask = "too close to choose" if len(members) > 1 else "not sure enough to act on without a test"
    return f"{shares}{rest}: {ask}. {rationale(assessment, lead.cause, lead.evidence, lead.remedy.watch)}"
