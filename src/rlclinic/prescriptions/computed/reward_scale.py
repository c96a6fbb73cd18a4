"""Rewards of a sane size, where a setting holds their scale. SAC's fixed temperature moves with them.

SAC maximises reward plus temperature times entropy: dividing the rewards alone would multiply the entropy's weight.
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# Returns are brought to this order; the literature's target is a few units (facts of the failure modes: [-3, 3]).
WANTED = 10.0
# Frameworks in which reward normalisation is one argument.
NORMALISED_BY_SETTING = frozenset({"sb3", "sb3-zoo", "rlclinic"})


def reward_divisor(case: Case) -> float:
    """A power of ten that brings the returns of the run to the order of ten; 10 where no return is known."""
    returns = case.run.returns
    if returns is None:
        return 10.0
    finite = returns.values[np.isfinite(returns.values)]
    largest = float(np.quantile(np.abs(finite), 0.9)) if finite.size else 0.0
    if largest <= WANTED:
        return 10.0
    return float(10 ** max(1, round(math.log10(largest / WANTED))))


def larger_rewards(case: Case) -> tuple[Turn, ...]:
    """Multiply by the power of ten that brings the returns to the order of ten; nothing where no setting scales."""
    returns, scale = case.run.returns, case.number("reward_scale")
    finite = returns.values[np.isfinite(returns.values)] if returns is not None else np.empty(0)
    largest = float(np.quantile(np.abs(finite), 0.9)) if finite.size else 0.0
    if not scale or largest >= WANTED:
        return ()
    return _rescaled(case, scale, float(10 ** max(1, round(math.log10(WANTED / largest)))) if largest else 10.0)


def smaller_rewards(case: Case) -> tuple[Turn, ...]:
    """Change the setting that scales or normalises rewards; nothing where the framework has none."""
    config = case.run.config
    divisor = reward_divisor(case)
    scale = case.number("reward_scale")
    if scale:
        return _rescaled(case, scale, 1.0 / divisor)
    if "continuous-q" in case.families:
        # Normalised rewards would leave a fixed temperature behind; the row with both instructions follows.
        return ()
    off = config.get("normalize_reward", False) in (False, None)
    if off and (case.run.framework in NORMALISED_BY_SETTING or config.get("normalize_reward") is False):
        return (Turn("normalize_reward", True),)
    return ()


def _rescaled(case: Case, scale: float, factor: float) -> tuple[Turn, ...]:
    turns = [Turn("reward_scale", float(f"{scale * factor:.6g}"))]
    temperature = case.number("ent_coef")
    if "continuous-q" in case.families and temperature and case.run.config.get("autotune_alpha") is not True:
        turns.append(Turn("ent_coef", float(f"{temperature * factor:.2g}")))
    return tuple(turns)
