"""Exploration in the way of the algorithm: epsilon, action noise, an entropy bonus, a temperature, a first spread."""

from __future__ import annotations

from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.careful_step import COARSE, stepped
from rlclinic.prescriptions.setting_change import Changes, SettingChange, change_to

# Where nothing else is known: the defaults of CleanRL's DQN, which explores for half of the run.
FRACTION, FINAL = 0.5, 0.05
SHORTEST = 0.1
# Above this share of random actions a policy cannot show what it knows.
HIGH_FINAL = 0.1
# Above this a bonus outweighs normalised advantages; the largest in working PPO and A2C configs is 0.06.
LARGEST_BONUS = 0.05
SMALLEST_BONUS = 0.01
# Standard deviation of action noise on actions in [-1, 1]: Fujimoto et al. 2018 and the zoo's TD3 entries.
NOISE = 0.1
# Frameworks in which the noise is one number of the config.
NOISE_IS_A_NUMBER = frozenset({"cleanrl", "tianshou"})
AUTO = "auto"
# Frameworks in which `auto` learns the temperature, and those in which it is the usual target entropy.
BY_WORD = frozenset({"sb3", "sb3-zoo", "rlclinic"})
TARGET_BY_WORD = BY_WORD | {"rllib"}
# Half a natural log unit around the usual start is no fault.
CLOSE = 0.5


def some_exploration(assessment: Assessment) -> Changes:
    """Epsilon for Q-learning, noise for deterministic policies, a bonus or a learned temperature for the others."""
    if "q-learning" in assessment.families:
        return longer_exploration(assessment)
    if assessment.run.algorithm in ("TD3", "DDPG"):
        settable = assessment.run.framework in NOISE_IS_A_NUMBER and not assessment.number("action_noise")
        return change_to("action_noise", NOISE) if settable else ()
    if "continuous-q" in assessment.families:
        return learned_temperature(assessment)
    return larger_entropy_bonus(assessment) if assessment.is_on_policy else ()


def longer_exploration(assessment: Assessment) -> Changes:
    """Three times as long, at most half of the run; never shorter than the reference for this environment."""
    changes: list[SettingChange] = []
    steps, budget = assessment.number("exploration_steps"), assessment.budget
    if steps is not None and budget:
        longer = min(FRACTION * budget, max(COARSE * steps, SHORTEST * budget))
        changes.append(SettingChange("exploration_steps", round(longer)))
    else:
        here = assessment.number("exploration_fraction") or 0.0
        known = assessment.entry_number("exploration_fraction")
        wanted = max(known or 0.0, min(FRACTION, COARSE * here if here else SHORTEST))
        if wanted > here:
            changes.append(SettingChange("exploration_fraction", round(wanted, 3)))
    start = assessment.number("exploration_initial")
    if start is not None and start < 1.0:
        changes.append(SettingChange("exploration_initial", 1.0))
    return tuple(changes)


def exploration_that_ends(assessment: Assessment) -> Changes:
    """The reference end value and length, where the run's own are higher."""
    changes: list[SettingChange] = []
    final, fraction = assessment.number("exploration_final"), assessment.number("exploration_fraction")
    known = assessment.reference_number("exploration_final") or FINAL
    if final is None or final > max(known, HIGH_FINAL):
        changes.append(SettingChange("exploration_final", known))
    longest = assessment.reference_number("exploration_fraction") or FRACTION
    if fraction is not None and fraction > max(longest, FRACTION):
        changes.append(SettingChange("exploration_fraction", longest))
    steps, budget = assessment.number("exploration_steps"), assessment.budget
    if steps is not None and budget and steps > FRACTION * budget:
        changes.append(SettingChange("exploration_steps", round(FRACTION * budget)))
    return tuple(changes)


def larger_entropy_bonus(assessment: Assessment) -> Changes:
    """One step up, from zero to a hundredth; never above what working configs use."""
    value = assessment.number("ent_coef")
    if value is not None and value >= LARGEST_BONUS:
        return ()
    after = stepped(assessment, "ent_coef", up=True)
    if after is None or after <= (value or 0.0):
        # The entry for this environment works without a bonus: the smallest usual one is the careful step.
        after = COARSE * value if value else SMALLEST_BONUS
    return change_to("ent_coef", min(after, LARGEST_BONUS))


def learned_temperature(assessment: Assessment) -> Changes:
    """Switch the learning of the temperature on; where it is on, take a target entropy of the user's own back."""
    config, framework = assessment.run.config, assessment.run.framework
    if config.get("autotune_alpha") is False:
        return change_to("autotune_alpha", True)
    if framework in BY_WORD and assessment.number("ent_coef") is not None:
        return change_to("ent_coef", AUTO)
    target = config.settings.get("target_entropy")
    if framework in TARGET_BY_WORD and target is not None and not target.is_default and target.value != AUTO:
        return change_to("target_entropy", AUTO)
    return ()


def usual_action_std(assessment: Assessment) -> Changes:
    """The reference log standard deviation (0 by default), or a standard deviation of 1."""
    spread = assessment.number("init_std")
    if spread is not None:
        return change_to("init_std", 1.0) if not 0.5 <= spread <= 2.0 else ()
    log_std, usual = assessment.number("log_std_init"), assessment.reference_number("log_std_init") or 0.0
    return change_to("log_std_init", usual) if log_std is None or abs(log_std - usual) > CLOSE else ()
