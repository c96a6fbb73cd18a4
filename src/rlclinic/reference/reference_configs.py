"""Hyperparameters that are known to work, and how far a value lies from them in spreads of working configs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rlclinic.model.numbers import TO_SIGMA
from rlclinic.reference.environment_names import environment_name
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.table_file import load_table

UPDATES = "update_to_data"
"""Gradient steps per env step; on policy the passes over a minibatch, shared among its samples."""
# Algorithms whose hyperparameters mean the same and work at the same values.
SAME_AS = {"MASKABLEPPO": "PPO", "RECURRENTPPO": "PPO", "APPO": "PPO", "TQC": "SAC", "DDPG": "TD3", "QRDQN": "DQN"}
# Hyperparameters near 1 whose distance from 1 is what matters (an effective horizon).
NEAR_ONE = frozenset({"gamma", "gae_lambda"})
# A discount of exactly 1 is placed where 0.99999 is, in log10 of the distance from 1.
CLOSEST_TO_ONE = 1e-5
# Least spread in log10 units: a value that all working configs share is still not wrong at 1.4 times it.
LEAST_SPREAD = 0.15
# Fewest working configs that make a spread.
FEWEST_CONFIGS = 4


def reference_config(environment: str, algorithm: str) -> Mapping[str, object]:
    """Canonical hyperparameters that work; those of the framework's defaults where no entry exists, else empty.

    `has_reference_config` tells whether it is an entry for this environment or only the defaults.
    """
    return _reference_config(environment, _like(environment, algorithm.upper()))


def has_reference_config(environment: str, algorithm: str) -> bool:
    """Whether an entry for this environment exists, rather than the algorithm's defaults alone."""
    return _entry(environment, _like(environment, algorithm.upper())) is not None


def working_configs(algorithm: str) -> tuple[Mapping[str, object], ...]:
    """The configs of every environment that are known to work, with the framework's defaults filled in."""
    return _working_configs(SAME_AS.get(algorithm.upper(), algorithm.upper()))


def reference_spread(algorithm: str) -> Mapping[str, tuple[float, float]]:
    """Centre and robust spread of each numeric hyperparameter over the working configs, in terms of `log_position`."""
    return _reference_spread(SAME_AS.get(algorithm.upper(), algorithm.upper()))


def gradient_steps_per_sample(config: Mapping[str, object]) -> float | None:
    """As a config says it, else its passes over each minibatch; without minibatches, or with larger ones, that is the
    rollout."""
    given, passes = config.get(UPDATES), config.get("n_epochs") or 1
    if isinstance(given, int | float):
        return float(given)
    sizes = [size for key in ("batch_size", "rollout_size") if isinstance(size := config.get(key), int | float)]
    return float(passes) / min(sizes) if sizes and isinstance(passes, int | float) else None


def log_position(name: str, value: float) -> float | None:
    """log10 of a value, or of its distance from 1 for a discount; None where it has none (zero, negative, infinite)."""
    if name in NEAR_ONE:
        return math.log10(max(1.0 - value, CLOSEST_TO_ONE)) if value <= 1.0 else None
    return math.log10(value) if value > 0 and math.isfinite(value) else None


def _like(environment: str, algorithm: str) -> str:
    """The algorithm whose entry serves: its own where there is one."""
    return algorithm if _entry(environment, algorithm) is not None else SAME_AS.get(algorithm, algorithm)


@cache
def _reference_config(environment: str, algorithm: str) -> Mapping[str, object]:
    defaults = _tables()["defaults"].get(algorithm, {})
    entry = _entry(environment, algorithm) or {}
    return MappingProxyType({**defaults, **entry})


@lru_cache(maxsize=256)
def _entry(environment: str, algorithm: str) -> Mapping[str, object] | None:
    configs: Mapping[str, Mapping[str, Mapping[str, object]]] = _tables()["configs"]
    found = environment_name(environment, [name for name in configs if name != "atari"])
    if found is not None:
        return configs[found.base].get(algorithm)
    return configs["atari"].get(algorithm) if _is_atari(environment) else None


def _is_atari(environment: str) -> bool:
    return "NoFrameskip-v" in environment or environment.startswith("ALE/")


@cache
def _working_configs(algorithm: str) -> tuple[Mapping[str, object], ...]:
    raw = _tables()
    defaults = raw["defaults"].get(algorithm, {})
    return tuple(
        MappingProxyType(_with_updates({**defaults, **entries[algorithm]}))
        for name, entries in raw["configs"].items()
        if algorithm in entries and algorithm not in raw["unproven"].get(name, ())
    )


def _with_updates(config: dict[str, object]) -> dict[str, object]:
    """A config that also says its gradient steps per env step."""
    pace = gradient_steps_per_sample(config)
    return config if pace is None else {**config, UPDATES: pace}


@cache
def _reference_spread(algorithm: str) -> Mapping[str, tuple[float, float]]:
    working = _working_configs(algorithm)
    found: dict[str, tuple[float, float]] = {}
    for name in {key for config in working for key in config}:
        at = sorted(place for config in working if (place := _place(name, config.get(name))) is not None)
        if len(at) >= FEWEST_CONFIGS:
            found[name] = (_quantile(at, 0.5), _spread(at))
    return MappingProxyType(found)


def _place(name: str, value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return log_position(name, float(value))


def _spread(at: list[float]) -> float:
    middle = _quantile(at, 0.5)
    around = TO_SIGMA * _quantile(sorted(abs(x - middle) for x in at), 0.5)
    # Where most configs share one value the middle says nothing; the tails do. 2.563 sigma lie between the deciles.
    tails = (_quantile(at, 0.9) - _quantile(at, 0.1)) / 2.563
    return max(around, tails, LEAST_SPREAD)


def _quantile(ordered: list[float], share: float) -> float:
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


@cache
def _tables() -> Mapping[str, Any]:
    raw = load_table(Path(__file__).with_name("reference_configs.yaml"))
    entries = [*raw["defaults"].values(), *(entry for group in raw["configs"].values() for entry in group.values())]
    unknown = sorted({key for entry in entries for key in entry} - set(hyperparameters()))
    if unknown:
        raise ValueError(f"reference_configs.yaml: not canonical hyperparameters: {', '.join(unknown)}")
    return raw
