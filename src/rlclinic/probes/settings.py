"""The table of settings, and the values that every probe starts from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias

from rlclinic.model.lazy_dataclass import dataclass

Family: TypeAlias = Literal["on-policy", "off-policy"]
GROUPS = ("optimiser", "environment", "normalisation", "rollout", "replay")
OFF = 1e9
"""A gradient-norm clip that never binds."""

# Normalisation and clipping move fixed points, so they are off until a probe of their own. Rollouts of 32 steps are
# coprime with episodes of 3, 5 and 7 steps and hold whole episodes of 1, 2 and 4.
_COMMON: Mapping[str, Any] = {
    "hidden_sizes": (32,),
    "max_grad_norm": OFF,
    "n_envs": 1,
    "normalize_observations": False,
    "normalize_rewards": False,
}
_BY_FAMILY: Mapping[Family, Mapping[str, Any]] = {
    "on-policy": {
        "learning_rate": 5e-3,
        "n_steps": 32,
        "batch_size": 32,
        "n_epochs": 8,
        "gae_lambda": 0.4,
        "clip_range": 0.2,
        "clip_range_value": None,
        "normalize_advantage": False,
        "entropy_coefficient": 0.0,
        "value_coefficient": 0.5,
    },
    "off-policy": {
        "learning_rate": 5e-3,
        "batch_size": 64,
        "buffer_size": 4000,
        "learning_starts": 64,
        "train_every": 2,
        "n_step_return": 1,
        "tau": 0.1,
        "exploration": 1.0,
        "action_noise": 0.3,
        "temperature": 0.0,
    },
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: str
    group: str
    meaning: str


@cache
def settings() -> Mapping[str, Setting]:
    """Every setting by name."""
    text = resources.files("rlclinic.probes").joinpath("settings.toml").read_text(encoding="utf-8")
    table = {name: Setting(name, row["group"], row["meaning"]) for name, row in tomllib.loads(text).items()}
    for setting in table.values():
        if setting.group not in GROUPS:
            raise ValueError(f"settings.toml: {setting.name} has the unknown group {setting.group!r}")
    return table


def starting_values(family: Family) -> dict[str, Any]:
    """What every probe passes unless it says otherwise."""
    return {**_COMMON, **_BY_FAMILY[family]}


def family_of(unknown: Iterable[str]) -> Family:
    """On-policy unless the trainer rejects every rollout setting and knows one of the replay."""
    unknown = set(unknown)
    rollout = {name for name, setting in settings().items() if setting.group == "rollout"}
    replay = {name for name, setting in settings().items() if setting.group == "replay"}
    return "off-policy" if rollout <= unknown and not replay <= unknown else "on-policy"
