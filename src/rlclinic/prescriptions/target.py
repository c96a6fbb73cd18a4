"""Where one careful step of a hyperparameter leads.

A step is a factor of 3 for learning rates, entropy bonuses and horizons (1/(1-gamma)), of 2 for everything else, and it
never passes the value that is known to work for this environment. A value that is far off is not walked home in many
rounds, each of which costs a training: with an entry for this environment more than two steps away the step goes to the
entry; without one, where the value lies outside the spread of working configs, it goes to the near edge of that spread.
"""

from __future__ import annotations

import math

from rlclinic.prescriptions.case import Case
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.reference_configs import CLOSEST_TO_ONE, NEAR_ONE, reference_spread

COARSE, FINE = 3.0, 2.0
STEP_OF_THREE = frozenset(
    {"learning_rate", "learning_rate_critic", "learning_rate_alpha", "ent_coef", "gamma", "gae_lambda", "kl_coef",
     "kl_loss_coef", "eta", "mmd_coef"}
)  # fmt: skip
# Spreads of working configs within which a value counts as ordinary, and where its near edge lies.
ORDINARY = 2.0
EDGE = 1.0
# Steps beyond which a value is so far from the entry for its environment that the entry itself is the target.
FAR_STEPS = 2
# What a step upwards from zero begins with, where no reference tells.
FROM_ZERO = {"ent_coef": 0.01, "tau": 0.005, "learning_rate": 3e-4, "vf_coef": 0.5}
DIGITS = 2


def stepped(case: Case, key: str, *, up: bool) -> float | None:
    """The new value of a hyperparameter; None where no careful step in this direction exists."""
    value, known = case.number(key), case.reference_number(key)
    if value is None:
        return known
    if up and key in NEAR_ONE and value >= 1.0:
        return None
    if value <= 0 and key not in NEAR_ONE:
        return (known if known and known > 0 else FROM_ZERO.get(key)) if up else None
    here = _size(key, value)
    factor = COARSE if key in STEP_OF_THREE else FINE
    step = here * factor if up else here / factor
    if case.has_entry and known is not None and (known > 0 or not up):
        ratio = _ratio(here, _size(key, known), up=up)
        if 1.0 < ratio <= factor or ratio > factor**FAR_STEPS:
            # The step would pass what works here, or would leave it far away: both end there.
            return known
        if ratio > 1.0:
            return rounded(key, _value(key, step))
    edge = _edge(case, key, here, up=up)
    if edge is None:
        return rounded(key, _value(key, step))
    return rounded(key, _value(key, max(step, edge) if up else min(step, edge))) if edge else None


def rounded(key: str, value: float) -> float:
    """Two significant digits; whole numbers for counts; a discount by its distance from 1."""
    entry = hyperparameters().get(key)
    if entry is not None and entry.kind == "integer":
        return max(1, round(value))
    if key in NEAR_ONE:
        return round(1.0 - _significant(1.0 - value), 8)
    return _significant(value)


def _edge(case: Case, key: str, here: float, *, up: bool) -> float | None:
    """The near edge of what works, if a step would not reach it; 0 where the value is already past the far edge."""
    spreads = reference_spread(case.run.algorithm).get(key) if not case.is_language_model else None
    if spreads is None:
        return None
    centre, spread = (-spreads[0] if key in NEAR_ONE else spreads[0]), spreads[1]
    distance = (math.log10(here) - centre) / spread
    towards = distance if up else -distance
    if towards > ORDINARY:
        return 0.0
    if towards < -ORDINARY:
        return float(10 ** (centre + (-EDGE if up else EDGE) * spread))
    return None


def _ratio(here: float, goal: float, *, up: bool) -> float:
    """How many times the goal lies from here in the direction of the step; below 1 where it lies behind."""
    if goal <= 0:
        return math.inf
    return goal / here if up else here / goal


def _size(key: str, value: float) -> float:
    """What is multiplied: the value, or the horizon of a discount."""
    return 1.0 / max(1.0 - value, CLOSEST_TO_ONE) if key in NEAR_ONE else value


def _value(key: str, size: float) -> float:
    return 1.0 - 1.0 / max(size, 1.0) if key in NEAR_ONE else size


def _significant(value: float) -> float:
    if value == 0 or not math.isfinite(value):
        return value
    return float(f"{value:.{DIGITS}g}")
