"""The lab's backend for Stable-Baselines3 and sb3-contrib."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from rlclinic.lab.checkpoints import loading
from rlclinic.lab.environments import check_environment
from rlclinic.lab.fit import check_fit, check_temperature
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.sb3.algorithms import ON_POLICY
from rlclinic.lab.sb3.arguments import accepted
from rlclinic.lab.sb3.measures import MeanLogger, Measures
from rlclinic.lab.sb3.model import build_model, policy_function
from rlclinic.lab.sb3.saving import load_model, save_model
from rlclinic.lab.session import Session
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.reference.framework import framework


class Sb3Backend:
    """Trains PPO, A2C, DQN, SAC, TD3, TRPO, QR-DQN and TQC."""

    def hyperparameters(self, algorithm: str) -> Mapping[str, object]:
        """Every canonical hyperparameter that the algorithm takes, with the library's default."""
        defaults = framework("sb3").defaults_for(algorithm, "")
        return {name: defaults.get(name) for name in sorted(accepted(algorithm))}

    def check(self, recipe: Recipe) -> None:
        """UsageError where the recipe cannot be trained."""
        _, actions = check_environment(recipe)
        check_fit(recipe, actions)
        check_temperature(recipe)
        _check_budget(recipe)
        # The constructor checks values against each other; a buffer of full size would take seconds and gigabytes.
        small = recipe.with_changes({"buffer_size": 1000}) if recipe.get("buffer_size") else recipe
        try:
            build_model(small, EpisodeLog()).env.close()
        except RlclinicError:
            raise
        except Exception as error:
            raise UsageError(f"{recipe.algorithm} refuses these values: {error}", hint="correct the config") from error

    def train(self, recipe: Recipe, session: Session) -> None:
        """Train within a session."""
        model = build_model(recipe, session.episodes)
        measures = Measures(model, recipe.algorithm, MeanLogger())
        if session.resumed is not None:
            with loading(session.resumed.path):
                load_model(model, session.resumed.path)
        parts = (
            measures.take,
            policy_function(model, deterministic=recipe.eval_deterministic),
            partial(save_model, model),
        )
        callback = _Callback(session, measures, parts)
        _call_before(model, callback.before_rollout)
        left = recipe.total_steps - model.num_timesteps
        try:
            if left > 0:
                model.learn(left, callback, log_interval=None, reset_num_timesteps=session.resumed is None)
            session.finish(model.num_timesteps, *parts)
        finally:
            measures.close()
            model.env.close()


class _Callback(BaseCallback):
    """Connects Stable-Baselines3's loop to the session."""

    def __init__(self, session: Session, measures: Measures, parts: Any) -> None:
        super().__init__()
        self._session = session
        self._measures = measures
        self._parts = parts

    def _on_step(self) -> bool:
        session = self._session
        if session.is_listened_to:
            return session.step(self.num_timesteps)
        session.env_steps = self.num_timesteps
        return session.stop_reason is None

    def _on_rollout_end(self) -> None:
        self._measures.rollout_ended()

    def before_rollout(self) -> None:
        """After every update: weights and counters agree."""
        if self.num_timesteps:
            self._session.after_update(self.num_timesteps, *self._parts)


def _call_before(model: Any, do: Any) -> None:
    """Call `do` before every rollout. The library's own callback comes when the last rollout is already thrown away."""
    collect = model.collect_rollouts

    def do_then_collect(*arguments: Any, **keywords: Any) -> Any:
        do()
        return collect(*arguments, **keywords)

    model.collect_rollouts = do_then_collect


def _check_budget(recipe: Recipe) -> None:
    if recipe.algorithm in ON_POLICY:
        defaults = framework("sb3").defaults_for(recipe.algorithm, "")
        steps = recipe.number("n_steps") or float(str(defaults["n_steps"]))
        rollout = int(steps) * recipe.n_envs
        if recipe.total_steps < rollout:
            raise UsageError(
                f"the budget of {recipe.total_steps:,} steps is below one rollout of {rollout:,}",
                hint="raise total_steps, or lower n_steps or n_envs",
            )
        return
    starts = int(recipe.number("learning_starts") or 0)
    if recipe.total_steps <= starts:
        raise UsageError(
            f"the budget of {recipe.total_steps:,} steps ends before learning starts at {starts:,}",
            hint="raise total_steps or lower learning_starts",
        )


BACKEND = Sb3Backend()
