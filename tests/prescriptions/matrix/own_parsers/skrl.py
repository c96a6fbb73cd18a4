"""skrl: its runner builds models, memory, agent and trainer from the YAML."""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium
import yaml
from skrl.envs.wrappers.torch import wrap_env
from skrl.utils.runner.torch import Runner

from tests.prescriptions.syntax.parsers import flatten, merged, nested


def load(environment: str, native: dict[str, Any], text: str, **_: object) -> dict[str, Any]:
    """The whole config after the change."""
    config = merged(nested(native), yaml.safe_load(text))
    runner = Runner(_env(environment), config)
    for key, value in config["agent"].items():
        held = getattr(runner.agent.cfg, key, None)
        if isinstance(held, bool | int | float):
            assert held == value, key
    assert runner.trainer.cfg.timesteps == config["trainer"]["timesteps"]
    return flatten(config)


@cache
def _env(name: str) -> Any:
    return wrap_env(gymnasium.make_vec(name, num_envs=2, vectorization_mode="sync"))
