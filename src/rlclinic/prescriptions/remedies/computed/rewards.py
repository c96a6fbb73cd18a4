"""Rewards of a sane size, where a setting holds their scale, and a value clip that their returns fit into.

SAC maximises reward plus temperature times entropy: dividing the rewards alone would multiply the entropy's weight, so
its fixed temperature changes with them.
"""

from __future__ import annotations

import math

from rlclinic.prescriptions.assessment import WANTED_RETURN, Assessment
from rlclinic.prescriptions.setting_change import Changes, SettingChange, change_to

# Frameworks in which reward normalisation is one argument.
NORMALISED_BY_SETTING = frozenset({"sb3", "sb3-zoo", "rlclinic"})
# gymnasium-solver accepts values below 1 only and cannot switch the clip off.
WIDEST_THERE = 0.99


def larger_rewards(assessment: Assessment) -> Changes:
    """Multiply by the power of ten that brings the returns to the order of ten; nothing where no setting scales."""
    largest, scale = assessment.largest_return, assessment.number("reward_scale")
    if not scale or largest >= WANTED_RETURN:
        return ()
    factor = float(10 ** max(1, round(math.log10(WANTED_RETURN / largest)))) if largest else 10.0
    return _rescaled(assessment, scale, factor)


def smaller_rewards(assessment: Assessment) -> Changes:
    """Change the setting that scales or normalises rewards; nothing where the framework has none."""
    scale = assessment.number("reward_scale")
    if scale:
        return _rescaled(assessment, scale, 1.0 / assessment.reward_divisor)
    if "continuous-q" in assessment.families:
        # Normalised rewards would leave a fixed temperature behind; the option with both instructions follows.
        return ()
    normalised = assessment.run.config.get("normalize_reward")
    settable = assessment.run.framework in NORMALISED_BY_SETTING or normalised is False
    return change_to("normalize_reward", True) if settable and normalised in (False, None) else ()


def wider_value_clip(assessment: Assessment) -> Changes:
    """Switch clipping off, or widen it past the returns.

    RLlib clips the squared error, so there the clip grows with the square of the returns. rl-zoo takes numbers only.
    """
    clip, framework = assessment.number("clip_range_vf"), assessment.run.framework
    wide = 10.0 * assessment.reward_divisor
    if framework == "gymnasium-solver":
        return change_to("clip_range_vf", WIDEST_THERE) if clip is None or clip < WIDEST_THERE else ()
    if assessment.run.config.get("clip_value_loss") is True:
        return change_to("clip_value_loss", False)
    if framework == "rllib":
        return change_to("clip_range_vf", wide**2)
    if framework == "sb3-zoo" and clip is not None:
        return change_to("clip_range_vf", wide) if clip < wide else ()
    return change_to("clip_range_vf", None) if clip is not None else ()


def _rescaled(assessment: Assessment, scale: float, factor: float) -> Changes:
    changes = change_to("reward_scale", float(f"{scale * factor:.6g}"))
    temperature, learned = assessment.number("ent_coef"), assessment.run.config.get("autotune_alpha") is True
    if "continuous-q" in assessment.families and temperature and not learned:
        changes += (SettingChange("ent_coef", float(f"{temperature * factor:.2g}")),)
    return changes
