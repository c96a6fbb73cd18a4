"""What lets a run learn faster in the same number of env steps, where its goal was missed with the whole budget.

No fault is claimed: the run's own numbers show that its updates have room. On policy that is the KL of an update, which
grows with the square of the learning rate; off policy it is the number of gradient steps that each sample is used for.
"""

from __future__ import annotations

from rlclinic.causes.catalogue import catalogue
from rlclinic.facts.update_count import updates_per_step
from rlclinic.model.diagnosis import Cause
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.careful_step import COARSE, HEALTHY_KL
from rlclinic.rules.rule import Sign

# A step of three in the rate makes nine times the KL: with this much room it stays below that of a healthy update.
ROOM = COARSE**2
# Families that use a sample many times.
REPLAYS = frozenset({"q-learning", "continuous-q"})
# Gradient steps per env step up to which plain off-policy algorithms gain by more; beyond, the critic overfits unless
# it is an ensemble or is reset (Nikishin et al. 2022, arXiv 2205.07802).
MOST_PER_STEP = 4.0


@dataclass(frozen=True, slots=True)
class SpeedUp:
    """A step that no fault asks for: the goal was missed, and something says that the step helps."""

    cause: str
    """The cause whose remedy makes the step."""
    why: str

    def cause_in(self, assessment: Assessment) -> Cause:
        """The cause as the diagnosis has it; with no probability where it was left out."""
        entry = catalogue()[self.cause]
        return assessment.causes.get(self.cause, Cause(self.cause, entry.cause_class, entry.kind, entry.meaning, 0.0))


def speed_ups(assessment: Assessment) -> list[SpeedUp]:
    """Steps that would make the run learn faster, the one with the best reason first; none for a run that did well."""
    if not assessment.status.fell_short or assessment.is_language_model:
        return []
    if assessment.is_on_policy:
        return _on_policy(assessment)
    return _off_policy(assessment) if assessment.families & REPLAYS else []


def _on_policy(assessment: Assessment) -> list[SpeedUp]:
    if assessment.shows(Sign.POLICY_TOO_FAST):
        return []
    found = []
    few = assessment.findings.get("few-updates-in-budget")
    if few is not None:
        told = f"{few.code} {few.name}: {few.summary.rstrip('.')}"
        found.append(SpeedUp("too-few-updates", f"{_missed(assessment)}. {told}."))
    moved = assessment.usual_kl
    if moved is not None and moved * ROOM <= HEALTHY_KL:
        room = f"an update moves the policy by a KL of {moved:.2g}, healthy ones by up to {HEALTHY_KL}"
        why = f"{_missed(assessment)}, and its updates have room: {room}. Larger ones learn faster in the same steps."
        found += [SpeedUp("learning-rate-too-low", why), SpeedUp("too-few-updates", why)]
    return found


def _off_policy(assessment: Assessment) -> list[SpeedUp]:
    ratio = updates_per_step(assessment.facts)
    if assessment.shows(Sign.CRITIC_DIVERGES) or ratio is None or ratio * 2.0 > MOST_PER_STEP:
        return []
    made = f"it makes {ratio:.2g} gradient steps per env step: more of them learn more from the same samples"
    return [SpeedUp("too-few-updates", f"{_missed(assessment)}, and {made}.")]


def _missed(assessment: Assessment) -> str:
    goal, curve, returns = assessment.run.threshold, assessment.facts.curve, assessment.run.returns
    told = "The goal" if goal is None else f"The goal of {goal:.4g}"
    ended = f" ({returns.logged_as} ended at {curve.final:.4g})" if curve is not None and returns is not None else ""
    return f"{told} was missed with the whole budget{ended}"
