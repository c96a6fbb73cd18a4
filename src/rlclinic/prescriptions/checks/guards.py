"""Advice that is known to do harm, and what to say instead.

Each guard looks at one cause's changes and returns the test that must come first, or None where the change is sound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rlclinic.causes.weights import weights
from rlclinic.model.diagnosis import Cause
from rlclinic.model.finding import Severity
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.setting_change import SettingChange
from rlclinic.rules.rule import Sign

# A rival cause with half the probability of the one that is treated must be ruled out first.
RIVAL = 0.5
# A bug this likely is probed for before anything is tuned.
BUG_LIKELY = 0.15
BUG_FAMILY = "implementation"
# Factor below the reference from which on a config value speaks for itself.
FAR = 3.0
# A cause this probable was weighed against its rivals already: an objection would only contradict the diagnosis.
CERTAIN = 0.95
# Factor beyond the reference from which on a value is wrong whatever else is.
FAR_OUT = 30.0

Guard = Callable[[Assessment, Cause, Sequence[SettingChange]], str | None]


def objection(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange]) -> str | None:
    """The test to make instead of a change that would do harm; None where no guard objects."""
    guards = GUARDS if cause.probability < CERTAIN else HARMFUL_WHATEVER_THE_CAUSE
    return next((text for guard in guards if (text := guard(assessment, cause, changes)) is not None), None)


def faster_for_no_clipping(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange]) -> str | None:
    """A clip fraction of 0 also comes from a reward of huge scale behind a gradient clip, and from a dead policy."""
    if not _moves(assessment, cause, changes, "learning_rate", up=True):
        return None
    if assessment.shows(Sign.RETURNS_TOO_LARGE) or _rivals(assessment, cause, "reward-scale-too-large"):
        return (
            "Do not raise the learning rate yet: rewards of a large scale look the same, because the gradient clip "
            "leaves almost no step. {examine} measures the scale; if it is large, rescale the rewards."
        )
    if assessment.shows(Sign.POLICY_DEAD):
        return (
            "Do not raise the learning rate yet: the policy is already deterministic and gives no gradient. Find "
            "out what made it so before the first updates went by; start again rather than go on."
        )
    known, here = assessment.reference_number("learning_rate"), assessment.number("learning_rate")
    slow = known is not None and here is not None and here * FAR <= known
    if (
        not slow
        and assessment.saw("clip-fraction-zero")
        and not assessment.saw("kl-vanishes", "value-loss-not-falling")
    ):
        return (
            "Do not raise the learning rate on the clip fraction alone: log KL and gradient norm for {tenth}. "
            "A healthy gradient with a tiny KL means that the rate is too low; a tiny gradient that it is not."
        )
    return None


def wider_clip_for_clipping(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange]) -> str | None:
    """A high clip fraction asks for smaller steps; a wider clip lets the policy run away."""
    if not _moves(assessment, cause, changes, "clip_range", up=True):
        return None
    known, here = assessment.reference_number("clip_range"), assessment.number("clip_range")
    tight = known is not None and here is not None and here < known
    if tight and not assessment.saw("kl-too-large", "kl-drifts-up"):
        return None
    return (
        "Do not widen the clip range: it is not tighter than in working configs, or the KL is already large. Log KL "
        "and clip fraction per epoch for {tenth}; if both rise, the steps are too large."
    )


def shorter_horizon_for_long_task(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange]) -> str | None:
    """A discount may only fall if the task needs less horizon than it would leave."""
    after = next((change.to for change in changes if change.key == "gamma"), None)
    if after is None or not _moves(assessment, cause, changes, "gamma", up=False) or not isinstance(after, int | float):
        return None
    horizon = 1.0 / max(1.0 - after, 1e-6)
    known, length = assessment.entry_number("gamma"), assessment.episode_length
    if known is not None and known <= after:
        return None
    if length is not None and length <= horizon:
        return None
    return (
        "Do not lower the discount: episodes are longer than the horizon that would remain, or their length is not "
        "known. If values run away, look at reward scale, target network and learning rate first."
    )


def exploration_for_scale_fault(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange]) -> str | None:
    """A policy that a wrong scale made deterministic is not fixed by a bonus."""
    if not _moves(assessment, cause, changes, "ent_coef", up=True):
        return None
    rivals = ("reward-scale-too-large", "observations-unnormalised", "advantages-unnormalised")
    if assessment.shows(Sign.RETURNS_TOO_LARGE) or _rivals(assessment, cause, *rivals):
        return (
            "Do not add an entropy bonus yet: the scale of rewards or observations explains the loss of entropy too; "
            "no bonus fits a wrong scale. {examine} measures both; normalise first."
        )
    return None


def slower_over_a_bug(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange]) -> str | None:
    """A smaller learning rate makes a wrong update look better without making it right."""
    here = assessment.number("learning_rate")
    if not here or not _moves(assessment, cause, changes, "learning_rate", up=False):
        return None
    if here >= FAR_OUT * (assessment.reference_number("learning_rate") or math.inf):
        return None
    findings = assessment.findings.values()
    unlike_any = (item for item in findings if item.name == "far-from-reference")
    if any(evidence.metric == "learning_rate" for item in unlike_any for evidence in item.evidence):
        return None
    seen = any(item.family == BUG_FAMILY and item.severity is not Severity.INFO for item in findings)
    likely = assessment.probability("implementation-bug") >= BUG_LIKELY
    rivals = _rivals(assessment, cause, "implementation-bug", "numerical-failure")
    if seen or likely or rivals or assessment.shows(Sign.BUG):
        return (
            "Do not lower the learning rate yet: the update itself may be wrong, and a smaller one would hide it. "
            "`rlclinic probe {trainer}` tests it on tasks with known answers in minutes."
        )
    return None


def rewards_without_temperature(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange]) -> str | None:
    """SAC weighs reward against entropy: both change together, or the temperature is learned."""
    keys = {change.key for change in changes}
    if "continuous-q" not in assessment.families or not keys & {"reward_scale", "normalize_reward"}:
        return None
    learned = assessment.run.config.get("autotune_alpha") is True
    if learned or "ent_coef" in keys or assessment.number("ent_coef") is None:
        return None
    return (
        "Do not rescale the rewards alone: the fixed temperature must change by the same factor, or be learned. Log "
        "the temperature times the entropy beside the reward for {tenth} and bring them to one order."
    )


GUARDS: tuple[Guard, ...] = (
    faster_for_no_clipping,
    wider_clip_for_clipping,
    shorter_horizon_for_long_task,
    exploration_for_scale_fault,
    slower_over_a_bug,
    rewards_without_temperature,
)
HARMFUL_WHATEVER_THE_CAUSE: tuple[Guard, ...] = (rewards_without_temperature,)


def _moves(assessment: Assessment, cause: Cause, changes: Sequence[SettingChange], key: str, *, up: bool) -> bool:
    for change in changes:
        if change.key != key or isinstance(change.to, bool) or not isinstance(change.to, int | float):
            continue
        here = assessment.number(key)
        if here is not None:
            return change.to > here if up else change.to < here
        row = weights().causes.get(cause.id)
        wrong = [suspect.direction for suspect in row.settings if suspect.key == key] if row is not None else []
        # The cause tells the way where the value is not known.
        return not wrong or wrong[0] != ("high" if up else "low")
    return False


def _rivals(assessment: Assessment, cause: Cause, *others: str) -> bool:
    return any(
        other != cause.id and assessment.probability(other) >= max(RIVAL * cause.probability, 1e-9) for other in others
    )
