"""Ray RLlib: the calls are made on an AlgorithmConfig, which validates itself."""

from __future__ import annotations

from typing import Any

from ray import tune
from ray.rllib.algorithms.cql import CQLConfig
from ray.rllib.algorithms.dqn import DQNConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.sac import SACConfig

from tests.prescriptions.syntax.parsers import python_calls

KINDS = {"PPO": PPOConfig, "SAC": SACConfig, "DQN": DQNConfig, "CQL": CQLConfig}
# Arguments of the methods that are dicts, and where the config keeps them.
DICTS = {"replay_buffer_config": "replay_buffer_config", "model_config": "_model_config", "model": "model"}
EPSILON = ("initial_epsilon", "final_epsilon", "epsilon_timesteps")


def load(algorithm: str, environment: str, text: str, **_: object) -> dict[str, Any]:
    """What the config holds after the calls, under the names of its record."""
    config: Any = KINDS[algorithm]().environment(environment)
    if algorithm == "CQL":
        # As it comes, a config of CQL is refused.
        config.training(lr=None, replay_buffer_config={"type": "EpisodeReplayBuffer"})
        config.offline_data(dataset_num_iters_per_learner=1)
    stop: dict[str, Any] = {}
    for line in text.splitlines():
        made = eval(line, {"config": config, "tune": tune})  # noqa: S307 - our own text, run as the user would
        if isinstance(made, tune.RunConfig):
            stop.update({f"stop.{key}": value for key, value in made.stop.items()})
        else:
            assert made is config
    config.validate()
    values = {
        {"lambda_": "lambda"}.get(key, key): _held(config, key)
        for key in python_calls(text)
        if f"stop.{key}" not in stop and not key.startswith("stop.")
    }
    if "epsilon" in values:
        (_, start), (steps, end) = config.epsilon
        values.update({f"exploration_config.{name}": v for name, v in zip(EPSILON, (start, end, steps), strict=True)})
    return {**values, **stop}


def _held(config: Any, key: str) -> object:
    parent, _, leaf = key.rpartition(".")
    return getattr(config, DICTS[parent])[leaf] if parent else getattr(config, key)
