"""TorchRL as a backend of the lab: PPO, SAC, REINFORCE and MM-RKHS."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torchrl  # noqa: F401 - says at once that the library is missing

from rlclinic.lab.environments import check_environment
from rlclinic.lab.fit import check_temperature
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.session import Session
from rlclinic.lab.torchrl.off_policy import OffPolicyTrainer
from rlclinic.lab.torchrl.on_policy import LEARNERS, OnPolicyTrainer
from rlclinic.lab.torchrl.options import DEFAULTS, Options
from rlclinic.lab.torchrl.spaces import Spaces, spaces_of
from rlclinic.lab.torchrl.state_files import seed_everything
from rlclinic.model.errors import UsageError

# One thread: networks of this size gain nothing from a second, and trials run one process per core.
THREADS = 1


class TorchRLBackend:
    """The TorchRL trainers."""

    def hyperparameters(self, algorithm: str) -> Mapping[str, object]:
        """Every canonical hyperparameter that the algorithm takes, with its default."""
        return DEFAULTS[algorithm]

    def check(self, recipe: Recipe) -> None:
        """UsageError where the recipe cannot be trained."""
        self._prepare(recipe)

    def train(self, recipe: Recipe, session: Session) -> None:
        """Train until the budget is used or the session asks to stop."""
        options, spaces = self._prepare(recipe)
        torch.set_num_threads(THREADS)
        seed_everything(recipe.seed)
        trainer = OnPolicyTrainer if recipe.algorithm in LEARNERS else OffPolicyTrainer
        trainer(recipe, options, spaces, session).run()

    def _prepare(self, recipe: Recipe) -> tuple[Options, Spaces]:
        if recipe.algorithm not in DEFAULTS:
            raise UsageError(f"TorchRL here does not train {recipe.algorithm}", hint=f"one of {', '.join(DEFAULTS)}")
        if recipe.device != "cpu":
            raise UsageError(f"device = {recipe.device!r}", hint="the TorchRL trainers run on the cpu")
        check_temperature(recipe)
        options = Options(recipe)
        observation, action = check_environment(recipe)
        spaces = spaces_of(observation, action)
        bonus = recipe.number("ent_coef")
        if recipe.algorithm == "SAC" and bonus is not None and bonus <= 0:
            # Its loss holds the logarithm.
            raise UsageError(f"ent_coef = {bonus:g}", hint="a positive number, or auto")
        if recipe.algorithm == "SAC" and not spaces.is_bounded:
            raise UsageError(
                f"SAC needs bounded actions, got {action}", hint="add the wrapper RescaleAction or use PPO"
            )
        least = recipe.n_envs * options.whole("n_steps") if recipe.algorithm in LEARNERS else recipe.n_envs
        if recipe.algorithm in LEARNERS and least < 2:
            raise UsageError("n_steps = 1 with one environment", hint="a rollout of at least 2 steps")
        if recipe.total_steps < least:
            raise UsageError(
                f"the budget of {recipe.total_steps} steps is below one rollout of {least}",
                hint="raise total_steps, or lower n_steps or n_envs",
            )
        return options, spaces


BACKEND = TorchRLBackend()
