"""The test that leads where the evidence does not tell causes of one class apart."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Prescription, PrescriptionKind, Priority, Safety
from rlclinic.prescriptions.candidate import LIKELY, Candidate, is_sure
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.checks import UNCHANGED, check_of
from rlclinic.prescriptions.conviction import did_badly
from rlclinic.prescriptions.implicated import ALIKE
from rlclinic.prescriptions.remedies import Reach, Stage
from rlclinic.prescriptions.wording import rationale

# Verdicts that leave the run some credit: a test is worth less there.
LENIENT = frozenset({Verdict.PLATEAUED, Verdict.UNSTABLE, Verdict.LEARNING})


def separating_test(case: Case, candidates: Sequence[Candidate]) -> Prescription | None:
    """The leading test, if one is needed; candidates come by probability."""
    if not candidates:
        return _test(case, UNKNOWN, ())
    lead = candidates[0]
    if lead.stage is Stage.FACTS or lead.is_check or (lead.reach is Reach.BLOCKING and is_sure(lead.evidence)):
        # Facts are acted on at once: looking at them is the test.
        return None
    if lead.is_far_off:
        # The setting tells the causes apart: it goes back to what works before anything else is tried.
        return None
    rivals = [other for other in candidates[1:] if other.cause_class == lead.cause_class and _differs(lead, other)]
    close = [other for other in rivals if ALIKE * other.probability >= lead.probability]
    doubtful = max(case.probability(UNKNOWN), case.probability(NOTHING_WRONG)) >= lead.probability
    if close:
        return _test(case, lead.cause_class, (lead, *close))
    if lead.is_convicted and did_badly(case):
        return None
    return _test(case, lead.cause_class, (lead,)) if doubtful or lead.probability < LIKELY else None


def _default(case: Case) -> Priority:
    return Priority.LOW if case.verdict in LENIENT else Priority.MEDIUM


def _differs(one: Candidate, other: Candidate) -> bool:
    return one.signature != other.signature


def _test(case: Case, cause_class: str, members: tuple[Candidate, ...]) -> Prescription:
    names = " and ".join(dict.fromkeys(member.cause.id for member in members))
    instruction = check_of(case, cause_class, names, _arms(members), several=len(members) > 1)
    causes = tuple(member.cause.id for member in members) or (UNKNOWN,)
    urgent = min((member.priority for member in members), key=lambda priority: priority.rank, default=_default(case))
    return Prescription(
        priority=urgent,
        kind=PrescriptionKind.CHECK,
        instruction=instruction,
        rationale=_why(case, members),
        expected_impact=None,
        risk="None: it only looks." if "train" not in instruction else "It costs the steps of the test.",
        safety=Safety.ADVICE,
        causes=causes,
        watch=tuple(dict.fromkeys(name for member in members for name in member.watch))[:4],
    )


def _arms(members: tuple[Candidate, ...]) -> str:
    changes = list(dict.fromkeys(member.arm for member in members if member.arm))
    if not changes:
        return UNCHANGED
    listed = "; ".join(changes)
    return f"with each change alone, same seed ({listed})" if len(changes) > 1 else f"with one change ({listed})"


def _why(case: Case, members: tuple[Candidate, ...]) -> str:
    if not members:
        return f"The verdict is {case.verdict.value}, and the logs do not tell why."
    shares = ", ".join(f"{member.cause.id} {100 * member.probability:.0f} %" for member in members)
    unsure = case.probability(UNKNOWN)
    rest = f", an unknown cause {100 * unsure:.0f} %" if len(members) == 1 and unsure else ""
    ask = "too close to choose" if len(members) > 1 else "not sure enough to act on without a test"
    return f"{shares}{rest}: {ask}. {rationale(case, members[0].cause, members[0].evidence, ())}"
