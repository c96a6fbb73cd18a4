"""PPO, MM-RKHS and REINFORCE of the lab behind the probe protocol."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from tensordict import TensorDict

from rlclinic.lab.torchrl.advantages import add_advantages
from rlclinic.lab.torchrl.learners.base import Learner
from rlclinic.lab.torchrl.policy_step import mode, sample
from rlclinic.lab.torchrl.rollout import Collector
from rlclinic.probes.adapters.torchrl_trainer import ROUNDING, Parts, TorchRLTrainer, tensor
from rlclinic.probes.protocol import Observation

IDENTITY = SimpleNamespace(module=lambda values: values)
"""A critic whose observations are the values themselves, so that a contract can hand them in."""
LOSSES = {"policy": "train/opt/loss/policy", "value": "train/opt/loss/value"}


class OnPolicy(TorchRLTrainer):
    """A learner of the lab, fed by the lab's collector."""

    def __init__(self, learner: Learner, parts: Parts) -> None:
        super().__init__(parts)
        self.learner = learner
        self._collector = Collector(self.row, learner.actor, self.spaces, self.normaliser)

    def train(self, env_steps: int) -> None:
        """Whole rollouts until so many steps are made."""
        until = self.steps + env_steps
        while self.steps < until:
            rollout = self._collector.collect(
                self.options.whole("n_steps"), self._count, whole_episodes=self.learner.whole_episodes
            )
            assert rollout is not None
            self.learner.update(rollout, 0.0)

    def act(self, obs: Observation) -> Any:
        """The most probable action as the environment receives it."""
        return self.spaces.to_environment(mode(self.learner.actor, self.spaces, self.rows(obs)).numpy())[0]

    def value(self, obs: Observation) -> float:
        """V of the critic."""
        with torch.no_grad():
            return float(self.learner.critic.module(tensor(self.rows(obs)))) * self.reward_unit()

    def action_probabilities(self, obs: Observation) -> Any:
        """Probabilities of a categorical policy."""
        with torch.no_grad():
            return self._policy(obs).probs.numpy()[0]

    def log_prob(self, obs: Observation, actions: Any) -> Any:
        """Log-density of actions."""
        with torch.no_grad():
            return self._policy(np.tile(obs, (len(actions), 1))).log_prob(tensor(actions)).numpy()

    def advantages(self, batch: Mapping[str, Any]) -> Any:
        """By the code that an update calls, which has environments before time."""
        named = {name: tensor(values).T.unsqueeze(-1) for name, values in batch.items() if values.ndim == 2}
        ended = (named["terminated"] + named["truncated"]) > 0
        rollout = TensorDict(
            {
                "observation": named["values"],
                "next": {
                    "observation": named["next_values"],
                    "reward": named["rewards"],
                    "terminated": named["terminated"] > 0,
                    "done": ended,
                },
            },
            batch_size=ended.shape[:2],
        )
        add_advantages(rollout, IDENTITY, self.learner.gamma, self.learner.trace)
        return rollout["advantage"].squeeze(-1).T.numpy()

    def log_ratio(self, batch: Mapping[str, Any]) -> Any:
        """Sample as a rollout does, evaluate as the loss does."""
        chosen = sample(self.learner.actor, self.spaces, self.rows(batch["observations"]))
        with torch.no_grad():
            return (self._policy(batch["observations"]).log_prob(chosen.action) - chosen.log_prob).numpy()

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Let the learner learn with learning rates of zero, once without value error and once without advantage."""
        values = [self.value(row) for row in np.asarray(batch["observations"], np.float32)]
        nothing = np.zeros(len(values))
        return {
            "policy": self._learned(batch["observations"], batch["advantages"], values, "policy"),
            "value": self._learned(batch["observations"], nothing, batch["returns"], "value"),
        }

    def _learned(self, observations: Any, advantages: Any, targets: Any, term: str) -> dict[str, float]:
        optimisers = self.learner.optimisers().values()
        for optimiser in optimisers:
            optimiser.adam.param_groups[0]["lr"] = 0.0
            optimiser.take_norms()
        seen = self.rows(observations)
        chosen = sample(self.learner.actor, self.spaces, seen)
        with torch.no_grad():
            values = self.learner.critic.module(tensor(seen))
        batch = TensorDict(
            {
                "observation": tensor(seen),
                "action": chosen.action,
                "action_log_prob": chosen.log_prob,
                "behaviour": chosen.parameters,
                "state_value": values,
                "advantage": tensor(advantages).unsqueeze(-1),
                "value_target": tensor(targets).unsqueeze(-1),
            },
            batch_size=[len(seen)],
        )
        columns = self.learner.learn(batch)
        norms = {name: norm for optimiser in optimisers for name, norm in optimiser.take_norms().items()}
        return {
            **{name: norm if norm > ROUNDING else 0.0 for name, norm in norms.items()},
            "value": columns.get(LOSSES[term], 0.0),
        }

    def _policy(self, observations: Any) -> Any:
        seen = tensor(self.rows(observations))
        return self.learner.actor.get_dist(TensorDict({"observation": seen}, batch_size=[len(seen)]))

    def _count(self, taken: int) -> bool:
        self.steps += taken
        return True
