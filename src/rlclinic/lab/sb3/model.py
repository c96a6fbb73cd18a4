"""Build the model and its environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3.common.preprocessing import is_image_space
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from rlclinic.lab.environments import make_environments
from rlclinic.lab.evaluation import Act
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.instruments.watch import stop_where_not_finite
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.sb3.algorithms import algorithm_class
from rlclinic.lab.sb3.arguments import constructor_arguments

# A second thread costs 1.5 to 2.4 times the CPU on small networks and gains nothing.
THREADS = 1


def build_model(recipe: Recipe, log: EpisodeLog) -> Any:
    """The algorithm with its environments, not yet trained."""
    torch.set_num_threads(THREADS)
    environment: Any = _Environments(make_environments(recipe, log))
    observations, rewards = bool(recipe.get("normalize_obs")), bool(recipe.get("normalize_reward"))
    if observations or rewards:
        environment = VecNormalize(
            environment, norm_obs=observations, norm_reward=rewards, gamma=recipe.number("gamma") or 0.99
        )
    arguments = constructor_arguments(recipe, environment.action_space)
    return algorithm_class(recipe.algorithm)(
        policy_name(recipe, environment.observation_space),
        environment,
        seed=recipe.seed,
        device=recipe.device,
        verbose=0,
        **arguments,
    )


def policy_name(recipe: Recipe, observations: Any) -> str:
    """The policy class: the recipe's, or the one that fits the observations."""
    if isinstance(observations, gymnasium.spaces.Dict):
        return "MultiInputPolicy"
    named = recipe.get("policy_class")
    if isinstance(named, str) and named in {"MlpPolicy", "CnnPolicy"}:
        return named
    return "CnnPolicy" if is_image_space(observations) else "MlpPolicy"


def policy_function(model: Any, *, deterministic: bool) -> Act:
    """The current policy for evaluation: live weights, normaliser statistics as they are and not updated."""
    normaliser = model.get_vec_normalize_env()

    def act(observations: Any) -> Any:
        seen = normaliser.normalize_obs(observations) if normaliser is not None else observations
        return model.predict(seen, deterministic=deterministic)[0]

    return act


class _Environments(DummyVecEnv):
    """Stops at once where an environment returns an observation that is not finite."""

    def __init__(self, makers: list[Callable[[], Any]]) -> None:
        super().__init__(makers)
        # Views: the buffer is filled in place.
        self._numbers = [part.reshape(-1) for part in self.buf_obs.values() if part.dtype.kind == "f"]

    def _obs_from_buf(self) -> Any:
        for numbers in self._numbers:
            # A finite sum proves that all is finite, and costs less than asking each number.
            total = np.add.reduce(numbers)
            if total - total != 0.0:
                stop_where_not_finite(self.envs, self.buf_obs)
        return super()._obs_from_buf()
