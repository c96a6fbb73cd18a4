"""How far a config value lies from those of configs that work, in spreads of their logarithm."""

from __future__ import annotations

import math

from rlclinic.causes.likelihoods import Knob
from rlclinic.model.run import Run
from rlclinic.reference.reference_configs import NEAR_ONE
from rlclinic.reference.tasks import has_reference_config, reference_config, reference_spread
from rlclinic.reference.working import times_beyond

# A factor of 3 is what people try; a knob that works over a range must move further to count.
LEAST_SPREAD = 0.35  # decades
# Times beyond the most extreme of all working configs from which on a value is one that nobody works with.
OUTSIDE = 8.0
# The same beside a sign of its cause.
OUTSIDE_WITH_SIGN = 3.0
# A logged rate this many times off the config's shows that the config is not in force.
NOT_IN_FORCE = 2.0
# Weight of the entropy below which there is none.
NO_BONUS = 1e-3
# Settings whose size depends neither on the budget nor on the machine, so that configs of other tasks bound them.
BOUNDED = frozenset({"learning_rate", "gamma", "ent_coef", "clip_range", "max_grad_norm", "vf_coef", "n_epochs", "tau"})


def deviation(run: Run, knob: Knob) -> float | None:
    """Spreads between the run's value and the reference, positive in the suspect direction; None if unknown."""
    value = run.config.number(knob.key)
    if value is None:
        return None
    reference = reference_config(run.environment, run.algorithm).get(knob.key)
    spreads = reference_spread(run.algorithm).get(knob.key)
    centre = _position(knob.key, float(reference)) if isinstance(reference, int | float) else None
    spread = LEAST_SPREAD
    if spreads is not None:
        # Without an entry for the environment there are only the library's defaults, which few tasks work best with.
        entry = centre is not None and has_reference_config(run.environment, run.algorithm)
        centre = centre if entry else -spreads[0] if knob.key in NEAR_ONE else spreads[0]
        spread = max(spread, spreads[1])
    position = _position(knob.key, value)
    if centre is None or position is None:
        return None
    distance = (position - centre) / spread
    if knob.direction == "either":
        return abs(distance)
    return distance if knob.direction == "high" else -distance


def is_outside(run: Run, knob: Knob, *, with_sign: bool = False) -> bool:
    """Whether the user's value lies far outside all working configs, in the suspect direction."""
    value, setting = run.config.number(knob.key), run.config.settings.get(knob.key)
    if value is None or setting is None or setting.is_default or knob.key not in BOUNDED:
        return False
    if not _in_force(run, knob.key):
        return False
    times = times_beyond(run.algorithm, knob.key, value)
    suspect = {"high": times, "low": -times, "either": abs(times)}[knob.direction]
    return suspect >= (OUTSIDE_WITH_SIGN if with_sign else OUTSIDE)


def _in_force(run: Run, key: str) -> bool:
    """Whether the log bears out the config: a rate that was dropped on the way to the trainer is no cause."""
    value, logged = run.config.number(key), run.series.get(key)
    highest = logged.highest if logged is not None else None
    return not value or not highest or 1.0 / NOT_IN_FORCE <= highest / value <= NOT_IN_FORCE


def _position(key: str, value: float) -> float | None:
    """Where a value lies on a logarithmic axis; a discount by its horizon 1/(1-gamma)."""
    if key in NEAR_ONE:
        return -math.log10(max(1.0 - value, 1e-6)) if 0 <= value <= 1 else None
    if key == "log_std_init":
        return value / math.log(10)
    if key == "ent_coef":
        # No bonus and a tiny one are the same.
        return math.log10(max(value, NO_BONUS))
    return math.log10(value) if value > 0 else -9.0
