"""How unusual a value of a setting is: the one answer, in decades, with its side and what it is held against.

A value is held against the entry for its task, else against the working configs of its algorithm, else against the
framework's default; and against the bounds of what people train with in its domain (usual.toml). Sizes are compared on
a logarithmic axis: a discount by its horizon 1 / (1 - gamma), an initial log standard deviation as it is. The same
working configs tell the usual value for a budget and the range of values that work.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.vocabulary import families_of
from rlclinic.reference.reference_configs import (
    CLOSEST_TO_ONE,
    FEWEST_CONFIGS,
    NEAR_ONE,
    has_reference_config,
    reference_config,
    reference_spread,
    working_configs,
)
from rlclinic.reference.table_file import load_table

Domain = Literal["on-policy", "off-policy", "offline", "evolution-strategies", "language-model", "unknown"]
Direction = Literal["high", "low", "either"]
# A factor of 2.2: what people try. A setting that works over a range must move further to count.
LEAST_SPREAD = 0.35
# The place of zero, below everything; and the decades by which it lies below a bound: it switches something off.
ZERO = -9.0
SWITCHED_OFF = 1.5
# Weights below which there is none: no bonus and a tiny one are the same.
NOTHING = {"ent_coef": 1e-3}
# On a logarithmic axis already, in powers of e; and numbers whose zero and negative values are ordinary.
LOGARITHMS = frozenset({"log_std_init"})
LINEAR = frozenset({"target_entropy_per_action"})
EVOLUTION = frozenset({"ARS", "ES", "OPENAI-ES", "CMA-ES", "CEM", "PGPE"})
# Configs whose budgets are nearest to the run's make its usual value: fast settings go with short budgets. An odd
# number, so that the middle one is a value that works somewhere.
NEAREST = 5
# Domains that the reference configs are about.
OF_REFERENCE = frozenset({"on-policy", "off-policy", "offline", "unknown"})


class Basis(StrEnum):
    """What a value is held against."""

    TASK = "which works on this task"
    ALGORITHM = "which works for the algorithm"
    DEFAULT = "the framework's default"
    DOMAIN = "which is common in this field"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The widest values that people train with on purpose."""

    low: float | None = None
    high: float | None = None
    usual: float | None = None
    """The middle of what published configs use, in domains without reference configs, and decades about it."""
    spread: float = LEAST_SPREAD


@dataclass(frozen=True, slots=True)
class Unusual:
    """Where a value lies."""

    decades: float
    """From the usual value, positive above it; from the nearer bound where only bounds are known, 0 between them."""
    spread: float
    """Decades by which working values differ."""
    outside: float
    """Decades beyond the bounds of the domain, positive above them; 0 between them, and where there are none."""
    basis: Basis
    usual: float | None = None
    """The value that it is held against; None where only bounds are known."""

    @property
    def spreads(self) -> float:
        """The distance in spreads of working configs."""
        return self.decades / self.spread

    def off(self, direction: Direction) -> float:
        """Spreads in a suspect direction."""
        return _towards(self.spreads, direction)

    def beyond(self, direction: Direction) -> float:
        """Decades outside of everything in a suspect direction; 0 inside."""
        return max(0.0, _towards(self.outside, direction))


def domain_of_algorithm(algorithm: str) -> Domain:
    """As far as the name tells."""
    families = families_of(algorithm)
    if algorithm.upper() in EVOLUTION:
        return "evolution-strategies"
    if "language-model" in families:
        return "language-model"
    if families & {"ppo", "actor-critic"}:
        return "on-policy"
    return "off-policy" if families & {"q-learning", "continuous-q"} else "unknown"


def how_unusual(
    name: str, value: float, *, algorithm: str, environment: str = "", domain: Domain | None = None
) -> Unusual | None:
    """How a value stands; None where nothing is known to hold it against."""
    domain = domain or domain_of_algorithm(algorithm)
    at, bounds = position(name, value), usual_bounds(name, domain)
    if at is None:
        return None
    outside = _outside(name, at, bounds) if bounds is not None else 0.0
    centre = _centre(name, algorithm, environment) if domain in OF_REFERENCE else _published(name, bounds)
    if centre is not None:
        usual, spread, basis = centre
        return Unusual(at - usual, spread, outside, basis, value_at(name, usual))
    return Unusual(outside, LEAST_SPREAD, outside, Basis.DOMAIN) if bounds is not None else None


def position(name: str, value: float) -> float | None:
    """Where a value lies on the axis of its setting, in decades; None where it has no place there."""
    if not math.isfinite(value):
        return None
    if name in LINEAR:
        return value
    if name in LOGARITHMS:
        return value / math.log(10)
    if name in NEAR_ONE:
        return -math.log10(max(1.0 - value, CLOSEST_TO_ONE)) if 0.0 <= value <= 1.0 else None
    least = NOTHING.get(name, 0.0)
    return math.log10(max(value, least)) if max(value, least) > 0.0 else ZERO


def value_at(name: str, place: float) -> float:
    """The value that lies at a place of the axis."""
    if name in LINEAR:
        return place
    if name in LOGARITHMS:
        return place * math.log(10)
    return 1.0 - math.pow(10.0, -place) if name in NEAR_ONE else math.pow(10.0, place)


def size_of(name: str, value: float) -> float:
    """What counts about a setting: the value, or the horizon of a discount."""
    return 1.0 / max(1.0 - value, CLOSEST_TO_ONE) if name in NEAR_ONE else value


def value_of_size(name: str, size: float) -> float:
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
    nearest = sorted(size for _, size in (found[:NEAREST] if budget else found))
    return value_of_size(name, nearest[(len(nearest) - 1) // 2])


@cache
def usual_bounds(name: str, domain: Domain) -> Bounds | None:
    """The bounds of a setting, or of what several come to, in a domain; None where every value is used somewhere."""
    return _bounds().get(name, {}).get(domain)


def bounded() -> frozenset[str]:
    """Names with bounds in any domain."""
    return frozenset(_bounds())


def _centre(name: str, algorithm: str, environment: str) -> tuple[float, float, Basis] | None:
    """Usual place, spread and basis. The library's defaults come last: few tasks work best with them."""
    entry = reference_config(environment, algorithm).get(name)
    known = position(name, float(entry)) if isinstance(entry, int | float) and not isinstance(entry, bool) else None
    working = reference_spread(algorithm).get(name)
    has_entry = known is not None and has_reference_config(environment, algorithm)
    if working is None:
        return (known, LEAST_SPREAD, Basis.TASK if has_entry else Basis.DEFAULT) if known is not None else None
    spread = max(LEAST_SPREAD, working[1])
    if has_entry and known is not None:
        return known, spread, Basis.TASK
    return (-working[0] if name in NEAR_ONE else working[0]), spread, Basis.ALGORITHM


def _published(name: str, bounds: Bounds | None) -> tuple[float, float, Basis] | None:
    middle = position(name, bounds.usual) if bounds is not None and bounds.usual is not None else None
    return (middle, bounds.spread, Basis.DOMAIN) if bounds is not None and middle is not None else None


def _outside(name: str, at: float, bounds: Bounds) -> float:
    low = position(name, bounds.low) if bounds.low is not None else None
    high = position(name, bounds.high) if bounds.high is not None else None
    if low is not None and at < low:
        return -SWITCHED_OFF if at == ZERO else at - low
    return at - high if high is not None and at > high else 0.0


def _towards(distance: float, direction: Direction) -> float:
    return {"high": distance, "low": -distance, "either": abs(distance)}[direction]


@cache
def _bounds() -> Mapping[str, Mapping[str, Bounds]]:
    raw = load_table(Path(__file__).with_name("usual.toml"))
    found: dict[str, dict[str, Bounds]] = {}
    for name, entries in raw.items():
        for entry in entries:
            unknown = set(entry["domains"]) - set(get_args(Domain))
            if unknown or entry.get("low") is entry.get("high") is None:
                raise ValueError(f"usual.toml: {name} has unknown domains or no bound")
            for domain in entry["domains"]:
                if domain in found.setdefault(name, {}):
                    raise ValueError(f"usual.toml: {name} has two entries for {domain}")
                numbers = {key: entry[key] for key in ("low", "high", "usual", "spread") if key in entry}
                found[name][domain] = Bounds(**numbers)
    return found


def _value(config: Mapping[str, object], name: str) -> float | None:
    value = config.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
