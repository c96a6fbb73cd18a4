"""What the working configs of an algorithm have in common: the range of a setting, and its usual value for a budget.

A value is compared by its size: itself, or for a discount the horizon 1 / (1 - gamma).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from statistics import median_low

from rlclinic.reference.reference_configs import CLOSEST_TO_ONE, FEWEST_CONFIGS, NEAR_ONE, working_configs

# Configs whose budgets are nearest to the run's make its usual value: fast settings go with short budgets. An odd
# number, so that the middle one is a value that works somewhere.
NEAREST = 5


def size_of(name: str, value: float) -> float:
    """What counts about a setting: the value, or the horizon of a discount."""
    return 1.0 / max(1.0 - value, CLOSEST_TO_ONE) if name in NEAR_ONE else value


def value_of(name: str, size: float) -> float:
    """The setting of a size."""
    return 1.0 - 1.0 / max(size, 1.0) if name in NEAR_ONE else size


@cache
def working_range(algorithm: str, name: str) -> tuple[float, float] | None:
    """The least and the greatest size among the working configs; None where too few have the setting."""
    values = [value for config in working_configs(algorithm) if (value := _value(config, name)) is not None]
    if len(values) < FEWEST_CONFIGS:
        return None
    sizes = [size_of(name, value) for value in values]
    return min(sizes), max(sizes)


def usual_value(algorithm: str, name: str, budget: float | None) -> float | None:
    """The middle value of the working configs whose budgets are nearest; of all of them where no budget is known."""
    found = []
    for config in working_configs(algorithm):
        value, steps = _value(config, name), config.get("total_steps")
        if value is None:
            continue
        apart = abs(math.log(steps / budget)) if budget and isinstance(steps, int | float) else 0.0
        found.append((apart, size_of(name, value)))
    if len(found) < FEWEST_CONFIGS:
        return None
    found.sort(key=lambda pair: pair[0])
    nearest = [size for _, size in (found[:NEAREST] if budget else found)]
    return value_of(name, median_low(nearest))


def _value(config: Mapping[str, object], name: str) -> float | None:
    value = config.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
