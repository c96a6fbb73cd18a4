"""Advice that is known to do harm, and what to say instead.

Each guard looks at one cause's changes and returns the test that must come first, or None where the change is sound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rlclinic.model.diagnosis import Cause
from rlclinic.model.finding import Severity
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn
from rlclinic.rules.rule import Sign

# A rival cause with half the probability of the one that is treated must be ruled out first.
RIVAL = 0.5
# A bug this likely is probed for before anything is tuned.
BUG_LIKELY = 0.15
BUG_FAMILY = "implementation"
# Factor below the reference from which on a config value speaks for itself.
FAR = 3.0
# Factor beyond the reference from which on a value is wrong whatever else is.
FAR_OUT = 30.0

Guard = Callable[[Case, Cause, Sequence[Turn]], str | None]


def objection(case: Case, cause: Cause, turns: Sequence[Turn]) -> str | None:
    """The test to make instead of a change that would do harm; None where no guard objects."""
    return next((text for guard in GUARDS if (text := guard(case, cause, turns)) is not None), None)


def faster_for_no_clipping(case: Case, cause: Cause, turns: Sequence[Turn]) -> str | None:
    """A clip fraction of 0 also comes from a reward of huge scale behind a gradient clip, and from a dead policy."""
    if not _moves(case, turns, "learning_rate", up=True):
        return None
    if case.shows(Sign.RETURNS_TOO_LARGE) or _rivals(case, cause, "reward-scale-too-large"):
        return (
            "Do not raise the learning rate yet: rewards of a large scale look the same, because the gradient clip "
            "leaves almost no step. `rlclinic examine {env}` measures the scale; if it is large, rescale the rewards."
        )
    if case.shows(Sign.POLICY_DEAD):
        return (
            "Do not raise the learning rate yet: the policy is already deterministic and gives no gradient. Find "
            "out what made it so before the first updates went by; start again rather than go on."
        )
    known, here = case.reference_number("learning_rate"), case.number("learning_rate")
    slow = known is not None and here is not None and here * FAR <= known
    if not slow and case.saw("clipping-never") and not case.saw("kl-vanishes", "value-loss-not-falling"):
        return (
            "Do not raise the learning rate on the clip fraction alone: log KL and gradient norm for {tenth} steps. "
            "A healthy gradient with a tiny KL means that the rate is too low; a tiny gradient that it is not."
        )
    return None


def wider_clip_for_clipping(case: Case, cause: Cause, turns: Sequence[Turn]) -> str | None:
    """A high clip fraction asks for smaller steps; a wider clip lets the policy run away."""
    if not _moves(case, turns, "clip_range", up=True):
        return None
    known, here = case.reference_number("clip_range"), case.number("clip_range")
    tight = known is not None and here is not None and here < known
    if tight and not case.saw("kl-too-large", "kl-drifts-up"):
        return None
    return (
        "Do not widen the clip range: it is not tighter than in working configs, or the KL is already large. Log KL "
        "and clip fraction per epoch for {tenth} steps; if both rise, the steps are too large."
    )


def shorter_horizon_for_long_task(case: Case, cause: Cause, turns: Sequence[Turn]) -> str | None:
    """A discount may only fall if the task needs less horizon than it would leave."""
    after = next((turn.to for turn in turns if turn.key == "gamma"), None)
    if after is None or not _moves(case, turns, "gamma", up=False) or not isinstance(after, int | float):
        return None
    horizon = 1.0 / max(1.0 - after, 1e-6)
    known, length = case.reference_number("gamma"), case.episode_length
    if case.has_entry and known is not None and known <= after:
        return None
    if length is not None and length <= horizon:
        return None
    return (
        "Do not lower the discount: episodes are longer than the horizon that would remain, or their length is not "
        "known. If values run away, look at reward scale, target network and learning rate first."
    )


def exploration_for_scale_fault(case: Case, cause: Cause, turns: Sequence[Turn]) -> str | None:
    """A policy that a wrong scale made deterministic is not mended by a bonus."""
    if not _moves(case, turns, "ent_coef", up=True):
        return None
    rivals = ("reward-scale-too-large", "observations-unnormalised", "advantages-unnormalised")
    if case.shows(Sign.RETURNS_TOO_LARGE) or _rivals(case, cause, *rivals):
        return (
            "Do not add an entropy bonus yet: the scale of rewards or observations explains the loss of entropy too; "
            "no bonus fits a wrong scale. `rlclinic examine {env}` measures both; normalise first."
        )
    return None


def slower_over_a_bug(case: Case, cause: Cause, turns: Sequence[Turn]) -> str | None:
    """A smaller learning rate makes a wrong update look better without making it right."""
    here = case.number("learning_rate")
    if not here or not _moves(case, turns, "learning_rate", up=False):
        return None
    if here >= FAR_OUT * (case.reference_number("learning_rate") or math.inf):
        return None
    bug = case.probability("implementation-bug")
    seen = any(item.family == BUG_FAMILY and item.severity is not Severity.INFO for item in case.findings.values())
    suspected = bug >= BUG_LIKELY or seen or _rivals(case, cause, "implementation-bug") or case.shows(Sign.BUG)
    if suspected or _rivals(case, cause, "numerical-failure"):
        return (
            "Do not lower the learning rate yet: the update itself may be wrong, and a smaller one would hide it. "
            "`rlclinic probe {trainer}` tests it on tasks with known answers in minutes."
        )
    return None


def rewards_without_temperature(case: Case, cause: Cause, turns: Sequence[Turn]) -> str | None:
    """SAC weighs reward against entropy: both change together, or the temperature is learned."""
    keys = {turn.key for turn in turns}
    if "continuous-q" not in case.families or not keys & {"reward_scale", "normalize_reward"}:
        return None
    if "ent_coef" in keys or case.number("ent_coef") is None or case.run.config.get("autotune_alpha") is True:
        return None
    return (
        "Do not rescale the rewards alone: the fixed temperature must change by the same factor, or be learned. Log "
        "the temperature times the entropy beside the reward for {tenth} steps and bring them to one order."
    )


GUARDS: tuple[Guard, ...] = (
    faster_for_no_clipping,
    wider_clip_for_clipping,
    shorter_horizon_for_long_task,
    exploration_for_scale_fault,
    slower_over_a_bug,
    rewards_without_temperature,
)


def _moves(case: Case, turns: Sequence[Turn], key: str, *, up: bool) -> bool:
    for turn in turns:
        if turn.key != key or isinstance(turn.to, bool) or not isinstance(turn.to, int | float):
            continue
        here = case.number(key)
        return here is None or (turn.to > here if up else turn.to < here)
    return False


def _rivals(case: Case, cause: Cause, *others: str) -> bool:
    return any(
        other != cause.id and case.probability(other) >= max(RIVAL * cause.probability, 1e-9) for other in others
    )
