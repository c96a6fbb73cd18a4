"""How large an entropy can be, and whether it is that of a density, which knows no zero."""

from __future__ import annotations

import math

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, rounding
from rlclinic.model.numbers import number
from rlclinic.signals._robust import quantile

# Quantile that stands for the largest value: a single odd point does not count in long runs.
NEARLY_ALL = 0.999
# Nats: no choice has fewer than two actions.
LEAST_CHOICE = math.log(2.0)
# Numbers of actions that a first entropy is compared with, and how close it must come, as a share.
MOST_ACTIONS = 18
CLOSE = 0.005
# Share of the greatest entropy below which a policy of discrete actions is as good as deterministic.
DETERMINISTIC = 0.05


def ceiling(facts: RunFacts) -> float | None:
    """ln(number of actions) where that is known, else the largest entropy seen: never more than the true one."""
    if facts.max_entropy is not None:
        return facts.max_entropy
    series = facts.series("entropy")
    if series is None:
        return None
    _, values = finite(series)
    seen = quantile(values, NEARLY_ALL) if values.size else None
    return seen if seen is None or is_density(facts) else max(seen, LEAST_CHOICE)


def ceiling_text(facts: RunFacts) -> str:
    """The greatest entropy in words: where the number of actions is not known, what was seen bounds it from below."""
    top = ceiling(facts)
    if top is None:
        return "an unknown maximum"
    return f"{top:.3g}" if facts.max_entropy is not None else f"at least {top:.3g}"


def uniform(facts: RunFacts) -> float | None:
    """ln(number of actions) where it is known, or where the first entropies are just that of a uniform choice."""
    if facts.max_entropy is not None or is_density(facts):
        return facts.max_entropy
    top = ceiling(facts)
    if top is None:
        return None
    nearest = math.log(min(max(round(math.exp(min(top, 10.0))), 2), MOST_ACTIONS))
    return nearest if abs(top - nearest) <= CLOSE * nearest else None


def is_density(facts: RunFacts) -> bool:
    """Whether the policy is continuous: its entropy may be negative, and a small one means nothing."""
    if facts.max_entropy is not None:
        return False
    if facts.series("action_std/mean") is not None or action_dimensions(facts) is not None:
        return True
    series = facts.series("entropy")
    if series is None:
        return False
    _, values = finite(series)
    return bool((values < -rounding(series)).any())


def dead_from_start(facts: RunFacts) -> bool:
    """Whether a choice among actions was as good as deterministic at every point that was logged.

    Such a policy gives ratios of 1 and no gradient whatever its updates are: its calm says nothing about them.
    """
    series, top = facts.series("entropy"), ceiling(facts)
    if series is None or top is None or is_density(facts):
        return False
    _, values = finite(series)
    return bool(values.size and float(values.max()) <= DETERMINISTIC * top)


def is_dead(facts: RunFacts, start: float = 0.0, end: float = 1.0) -> bool:
    """Whether the policy is as good as deterministic in a stretch: what is left of its updates says nothing."""
    top, level = uniform(facts), facts.level("entropy", start, end)
    return top is not None and level is not None and level.value < DETERMINISTIC * top


def action_dimensions(facts: RunFacts) -> float | None:
    """Number of continuous action dimensions, where the config tells."""
    shape = facts.run.config.get("action_shape")
    sizes = [shape] if isinstance(shape, int | float) else shape
    if not isinstance(sizes, list | tuple) or not sizes:
        return None
    if not all((number(size) or 0.0) > 0 for size in sizes):
        return None
    return number(math.prod(float(size) for size in sizes))
