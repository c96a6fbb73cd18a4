"""The loop of the on-policy trainers: collect with the current policy, learn from it once, tell the session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from rlclinic.lab.environments import make_environments
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.session import Session
from rlclinic.lab.torchrl.learners.base import Columns, Learner
from rlclinic.lab.torchrl.learners.mmrkhs import MMRKHSLearner
from rlclinic.lab.torchrl.learners.ppo import PPOLearner
from rlclinic.lab.torchrl.learners.reinforce import ReinforceLearner
from rlclinic.lab.torchrl.normaliser import Normaliser
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.policy_step import mode, sample
from rlclinic.lab.torchrl.rollout import Collector
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.lab.torchrl.state_files import check_finite, load_state, save_state
from rlclinic.lab.torchrl.vector_env import VectorEnv

LEARNERS: dict[str, type[Learner]] = {"PPO": PPOLearner, "MM-RKHS": MMRKHSLearner, "REINFORCE": ReinforceLearner}


class OnPolicyTrainer:
    """PPO, MM-RKHS and REINFORCE."""

    def __init__(self, recipe: Recipe, options: Options, spaces: Spaces, session: Session) -> None:
        self._recipe = recipe
        self._options = options
        self._spaces = spaces
        self._session = session
        self._learner = LEARNERS[recipe.algorithm](options, spaces)
        self._normaliser = Normaliser.of(recipe, options, spaces)
        self._steps = 0
        self._updates = 0.0
        self._measured: Columns = {}
        if session.resumed is not None:
            self._steps = session.resumed.env_steps
            self._load(session.resumed.path)

    def run(self) -> None:
        """Train until the budget is used or the session asks to stop."""
        session, learner, budget = self._session, self._learner, self._recipe.total_steps
        # A resumed run must not play the episodes of its start again.
        envs = VectorEnv(
            make_environments(self._recipe, session.episodes), self._spaces, self._recipe.seed + self._steps
        )
        try:
            collector = Collector(envs, learner.actor, self._spaces, self._normaliser)
            while self._steps < budget and not session.should_stop():
                rollout = collector.collect(
                    self._options.whole("n_steps"), self._count, whole_episodes=learner.whole_episodes
                )
                if rollout is None:
                    break
                self._measured = learner.update(rollout, self._steps / budget)
                # Passes over the rollout, as Stable-Baselines3 counts them.
                self._updates += self._measured.get("train/opt/epochs", 1.0)
                session.after_update(self._steps, self._measure, self._act, self._save)
                check_finite(learner.modules(), session.folder.path)
            session.finish(self._steps, self._measure, self._act, self._save)
        finally:
            envs.close()

    def _count(self, taken: int) -> bool:
        self._steps += taken
        return self._session.step(self._steps)

    def _measure(self) -> Columns:
        return {**self._measured, "train/cnt/updates": self._updates}

    def _act(self, observations: Any) -> Any:
        """The current policy for evaluation, with the statistics of training as they are."""
        seen = self._normaliser.observation(self._spaces.encode(observations))
        actor, spaces = self._learner.actor, self._spaces
        if self._recipe.eval_deterministic:
            return spaces.to_environment(mode(actor, spaces, seen).numpy())
        # Evaluation must not shift the random numbers of training.
        with torch.random.fork_rng(devices=[]):
            return spaces.to_environment(sample(actor, spaces, seen).action.numpy())

    def _save(self, path: Path) -> None:
        check_finite(self._learner.modules(), path)
        numbers = {f"counter_{name}": np.asarray(value) for name, value in self._learner.counters().items()}
        numbers |= {f"normaliser_{name}": value for name, value in self._normaliser.to_arrays().items()}
        numbers["updates"] = np.asarray(self._updates)
        save_state(path, self._learner.modules(), self._learner.optimisers(), numbers)

    def _load(self, path: Path) -> None:
        numbers = load_state(path, self._learner.modules(), self._learner.optimisers())
        parts = {
            head: {key.removeprefix(head): value for key, value in numbers.items() if key.startswith(head)}
            for head in ("counter_", "normaliser_")
        }
        self._learner.set_counters({name: float(value) for name, value in parts["counter_"].items()})
        self._normaliser.load(parts["normaliser_"])
        self._updates = float(numbers["updates"])
