"""The loop of SAC: step, remember, learn from memory, tell the session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rlclinic.lab.checkpoints import loading
from rlclinic.lab.environments import make_environments
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.session import Session
from rlclinic.lab.torchrl.learners.base import Columns
from rlclinic.lab.torchrl.learners.sac import SACLearner
from rlclinic.lab.torchrl.normaliser import Normaliser
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.policy_step import squashed_mode, squashed_sample
from rlclinic.lab.torchrl.replay import Replay
from rlclinic.lab.torchrl.spaces import Floats, Spaces
from rlclinic.lab.torchrl.state_files import check_finite, load_arrays, load_state, save_arrays, save_state
from rlclinic.lab.torchrl.vector_env import VectorEnv

# Env steps between two calls of the session: a row per gradient step would cost more than it tells.
TELL_EVERY = 200
REPLAY = "replay.npz"


class OffPolicyTrainer:
    """SAC."""

    def __init__(self, recipe: Recipe, options: Options, spaces: Spaces, session: Session) -> None:
        self._recipe = recipe
        self._options = options
        self._spaces = spaces
        self._session = session
        self._learner = SACLearner(options, spaces)
        self._replay = Replay(min(options.whole("buffer_size"), recipe.total_steps + recipe.n_envs), spaces)
        self._normaliser = Normaliser.of(recipe, options, spaces)
        self._steps = 0
        self._updates = 0.0
        if session.resumed is not None:
            self._steps = session.resumed.env_steps
            self._load(session.resumed.path)

    def run(self) -> None:
        """Train until the budget is used or the session asks to stop."""
        session, budget = self._session, self._recipe.total_steps
        # A resumed run must not play the episodes of its start again.
        envs = VectorEnv(
            make_environments(self._recipe, session.episodes), self._spaces, self._recipe.seed + self._steps
        )
        self._normaliser.see(envs.now)
        told = self._steps
        try:
            while self._steps < budget and session.step(self._steps):
                taken = self._collect(envs)
                if self._steps >= self._options.whole("learning_starts"):
                    self._learn(taken)
                if self._steps - told >= TELL_EVERY:
                    told = self._steps
                    session.after_update(self._steps, self._measure, self._act, self._save)
                    check_finite(self._learner.modules(), session.folder.path)
            session.finish(self._steps, self._measure, self._act, self._save)
        finally:
            envs.close()

    def _collect(self, envs: VectorEnv) -> int:
        everyone = list(range(len(envs)))
        taken = 0
        for _ in range(self._options.whole("train_freq")):
            before = envs.now.copy()
            actions = self._actions(before)
            step = envs.step(self._spaces.from_unit(actions), everyone)
            self._normaliser.see(envs.now)
            rewards = self._normaliser.reward(step.reward, step.done, everyone)
            self._replay.add(before, actions, step, rewards)
            taken += len(envs)
        self._steps += taken
        return taken

    def _actions(self, observations: Floats) -> NDArray[Any]:
        """Uniform until learning starts, then the policy's; continuous ones within [-1, 1]."""
        spaces, count = self._spaces, len(observations)
        if self._steps >= self._options.whole("learning_starts"):
            chosen = squashed_sample(self._learner.actor, spaces, self._normaliser.observation(observations))
        elif spaces.is_discrete:
            chosen = torch.randint(spaces.action_size, (count,))
        else:
            chosen = 2 * torch.rand(count, spaces.action_size) - 1
        actions: NDArray[Any] = chosen.numpy()
        return actions

    def _learn(self, taken: int) -> None:
        wanted = self._options.whole("gradient_steps")
        for optimiser in self._learner.optimisers().values():
            optimiser.at(self._steps / self._recipe.total_steps)
        for _ in range(taken if wanted < 0 else wanted):
            batch = self._replay.sample(self._options.whole("batch_size"), self._normaliser.observation)
            self._learner.learn(batch)
            self._updates += 1

    def _measure(self) -> Columns:
        return {**self._learner.take_columns(), "train/cnt/updates": self._updates}

    def _act(self, observations: Any) -> Any:
        """The current policy for evaluation, with the statistics of training as they are."""
        seen = self._normaliser.observation(self._spaces.encode(observations))
        actor, spaces = self._learner.actor, self._spaces
        if self._recipe.eval_deterministic:
            chosen = squashed_mode(actor, spaces, seen)
        else:
            # Evaluation must not shift the random numbers of training.
            with torch.random.fork_rng(devices=[]):
                chosen = squashed_sample(actor, spaces, seen)
        return spaces.to_environment(spaces.from_unit(chosen.numpy()))

    def _save(self, path: Path) -> None:
        check_finite(self._learner.modules(), path)
        numbers = self._normaliser.to_arrays() | {"updates": np.asarray(self._updates)}
        save_state(path, self._learner.modules(), self._learner.optimisers(), numbers)
        save_arrays(path / REPLAY, self._replay.to_arrays())

    def _load(self, path: Path) -> None:
        numbers = load_state(path, self._learner.modules(), self._learner.optimisers())
        self._normaliser.load(numbers)
        self._updates = float(numbers["updates"])
        with loading(path):
            self._replay.load(load_arrays(path / REPLAY))
