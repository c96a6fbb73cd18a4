"""Where a search may look: hyperparameters, as far around working values as working configs spread."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from rlclinic.lab.recipe import Recipe
from rlclinic.lab.values import RANGES
from rlclinic.prescriptions.checks.constraints import dividing_batch
from rlclinic.reference.reference_configs import NEAR_ONE, log_position, reference_spread, working_configs

# Searched where the algorithm takes them, in this order.
SEARCHED = (
    "learning_rate", "n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "ent_coef", "clip_range",
    "max_grad_norm", "vf_coef", "train_freq", "gradient_steps", "learning_starts", "tau", "target_update_interval",
    "exploration_fraction", "exploration_final",
)  # fmt: skip
WHOLE = frozenset(
    {
        "n_steps", "batch_size", "n_epochs", "train_freq", "gradient_steps", "learning_starts",
        "target_update_interval",
    }
)  # fmt: skip
POWERS = frozenset({"n_steps", "batch_size"})
# Spreads of working configs around their centre, and decades around the start where no spread is known.
SPREADS = 2.5
DECADES = 0.5
# Decades that the search goes beyond the least and greatest value of any working config.
BEYOND = 0.3
# Updates per env step. No working config takes more than one, and the time of a run grows with them.
MOST_UPDATES = 2.0
# The start itself is always inside: widened by this many decades around it.
MARGIN = 0.1


def search_space(recipe: Recipe) -> dict[str, BaseDistribution]:
    """A distribution for each searched hyperparameter that the recipe has as a positive number."""
    spread = reference_spread(recipe.algorithm)
    space: dict[str, BaseDistribution] = {}
    for key in SEARCHED:
        value = recipe.number(key)
        at = None if value is None else log_position(key, value)
        if at is None:
            continue
        centre, width = spread.get(key, (at, DECADES / SPREADS))
        least, greatest = _extremes(recipe.algorithm, key)
        low = min(max(centre - SPREADS * width, least - BEYOND), at - MARGIN)
        high = max(min(centre + SPREADS * width, greatest + BEYOND), at + MARGIN)
        space[key] = _distribution(key, low, min(high, _highest(recipe, key)))
    return space


def parameters(space: Mapping[str, BaseDistribution], values: Mapping[str, object]) -> dict[str, Any]:
    """Values of a config in terms of the space, those outside it brought to its edge."""
    found: dict[str, Any] = {}
    for key, distribution in space.items():
        value = values.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if isinstance(distribution, CategoricalDistribution):
            found[key] = min(distribution.choices, key=lambda choice: abs(math.log(float(choice or 1) / value)))
        elif isinstance(distribution, FloatDistribution):
            raw = 1.0 - value if key in NEAR_ONE else float(value)
            found[key] = min(max(raw, distribution.low), distribution.high)
    return found


def hyperparameters(chosen: Mapping[str, Any], recipe: Recipe) -> dict[str, object]:
    """What was drawn, as canonical hyperparameters; the batch divides the rollout."""
    values: dict[str, object] = {}
    for key, raw in chosen.items():
        value = 1.0 - raw if key in NEAR_ONE else raw
        values[key] = max(1, round(value)) if key in WHOLE else float(f"{value:.4g}")
    n_steps = values.get("n_steps", recipe.number("n_steps"))
    batch = values.get("batch_size")
    if isinstance(n_steps, int | float) and isinstance(batch, int | float) and recipe.number("n_epochs") is not None:
        values["batch_size"] = dividing_batch(float(batch), float(n_steps) * recipe.n_envs)
    for key, most in _most_updates({**recipe.hyperparameters, **values}, recipe.n_envs).items():
        if key in values:
            values[key] = max(1, min(int(str(values[key])), int(most)))
    return values


def _most_updates(values: Mapping[str, object], n_envs: int) -> dict[str, float]:
    """The highest values of what multiplies updates, beside the batch or the interval that they are drawn with."""
    batch, interval = values.get("batch_size"), values.get("train_freq")
    found = {}
    if isinstance(batch, int | float):
        found["n_epochs"] = MOST_UPDATES * batch
    if isinstance(interval, int | float):
        found["gradient_steps"] = MOST_UPDATES * interval * n_envs
    return found


def _extremes(algorithm: str, key: str) -> tuple[float, float]:
    """The least and the greatest value in working configs, in terms of `log_position`; no bounds where it has none."""
    values = [config.get(key) for config in working_configs(algorithm)]
    numbers = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    at = [place for value in numbers if (place := log_position(key, value)) is not None]
    return min(at, default=-math.inf), max(at, default=math.inf)


def _highest(recipe: Recipe, key: str) -> float:
    """Where a value stops to have a meaning, in terms of `log_position`: beyond its range, or beyond the budget."""
    if key == "learning_starts":
        return math.log10(recipe.total_steps / 2)
    if key == "n_steps":
        return math.log10(recipe.total_steps / recipe.n_envs)
    if key in NEAR_ONE:
        return 0.0
    limit = RANGES.get(key, (0.0, math.inf))[1]
    return math.log10(limit) if math.isfinite(limit) else math.inf


def _distribution(key: str, low: float, high: float) -> BaseDistribution:
    if key in POWERS:
        first, last = math.floor(low / math.log10(2)), math.floor(high / math.log10(2) + 1e-9)
        return CategoricalDistribution([2**power for power in range(max(first, 0), max(first, last, 0) + 1)])
    return FloatDistribution(min(10.0**low, 10.0**high), 10.0**high, log=True)
