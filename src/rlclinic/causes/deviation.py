"""How far a config value lies from those of configs that work, in spreads of their logarithm."""

from __future__ import annotations

import math

from rlclinic.causes.likelihoods import Knob
from rlclinic.model.run import Run
from rlclinic.reference.tasks import reference_config, reference_spread

# A factor of 3 is what people try; a knob that works over a range must move further to count.
LEAST_SPREAD = 0.35  # decades


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
        centre = spreads[0] if centre is None else centre
        spread = max(spread, spreads[1])
    position = _position(knob.key, value)
    if centre is None or position is None:
        return None
    distance = (position - centre) / spread
    if knob.direction == "either":
        return abs(distance)
    return distance if knob.direction == "high" else -distance


def _position(key: str, value: float) -> float | None:
    """Where a value lies on a logarithmic axis; a discount by its horizon 1/(1-gamma)."""
    if key == "gamma":
        return -math.log10(max(1.0 - value, 1e-6)) if 0 <= value <= 1 else None
    if key == "log_std_init":
        return value / math.log(10)
    return math.log10(value) if value > 0 else -9.0
