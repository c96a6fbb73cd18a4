"""rsl_rl: its runner builds actor, critic and algorithm from the agent's config."""

from __future__ import annotations

import copy
from typing import Any

import torch
import yaml
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

from tests.prescriptions.syntax.parsers import flatten, merged, nested

ENVS = 2


class Still(VecEnv):  # type: ignore[misc]
    """Environments that nobody steps."""

    num_envs = ENVS
    num_actions = 1
    max_episode_length = 10
    device = "cpu"
    cfg: dict[str, Any] = {}  # noqa: RUF012 - as the base class declares it
    episode_length_buf = torch.zeros(ENVS, dtype=torch.long)

    def get_observations(self) -> TensorDict:
        return TensorDict({"policy": torch.zeros(ENVS, 4)}, batch_size=[ENVS])

    def step(self, actions: torch.Tensor) -> Any:
        raise NotImplementedError


def load(native: dict[str, Any], text: str, **_: object) -> dict[str, Any]:
    """The whole config after the change; what stands below the line of the environment goes there."""
    agent_text, _, env_text = text.partition("# in the environment's config\n")
    config = merged(nested(native), yaml.safe_load(agent_text) or {})
    config["env"] = merged(config.get("env", {}), yaml.safe_load(env_text) or {})
    runner = OnPolicyRunner(Still(), copy.deepcopy({key: item for key, item in config.items() if key != "env"}))
    for key, value in config["algorithm"].items():
        held = getattr(runner.alg, key, value)
        assert held == value or key in ("class_name", "optimizer"), key
    return flatten(config)
