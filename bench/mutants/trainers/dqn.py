"""Double deep Q-learning."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from rlclinic.probes.protocol import Observation

from .base import only_discrete
from .networks import Layers, Stepper, gradient_norms, tensor
from .off_policy import REPLAY, OffPolicy


class DQN(OffPolicy):
    """The online network selects, the target network evaluates."""

    defaults: Mapping[str, Any] = {**REPLAY, "exploration": 0.1}

    def policy_space(self, space: Any) -> Any:
        """One discrete action."""
        return only_discrete(space)

    def build(self) -> None:
        """Q and its target."""
        self.online = Layers(self.inputs, self.settings["hidden_sizes"], self.space.outputs)
        self.target = deepcopy(self.online)
        self.stepper = Stepper(self.online.parameters(), self.settings["learning_rate"], self.settings["max_grad_norm"])

    def action_size(self) -> int:
        """The index."""
        return 1

    def explore(self, observations: Any) -> Any:
        """Epsilon-greedy."""
        count = len(observations)
        chance = self.rng.integers(self.space.outputs, size=(count, 1))
        if self.settings["exploration"] >= 1:
            return chance
        with torch.no_grad():
            best = self.greedy(tensor(observations))
        return np.where(self.rng.random((count, 1)) < self.settings["exploration"], chance, best)

    def greedy(self, inputs: torch.Tensor) -> Any:
        """The action of the largest Q."""
        return self.space.greedy(self.online(inputs).numpy())

    def learn(self, batch: dict[str, torch.Tensor]) -> None:
        """One step towards the targets."""
        self.stepper.descend(self.loss(batch, self.targets_of(batch)))

    def targets_of(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Reward plus discounted value of the best next action."""
        with torch.no_grad():
            best = self.online(batch["following"]).argmax(-1, keepdim=True)
            values = self.target(batch["following"]).gather(-1, best).squeeze(-1)
            return batch["rewards"] + batch["bootstrap"] * values

    def loss(self, batch: dict[str, torch.Tensor], targets: torch.Tensor) -> torch.Tensor:
        """Squared error of the actions taken."""
        taken = self.online(batch["observations"]).gather(-1, batch["actions"].long()).squeeze(-1)
        return functional.mse_loss(taken, targets)

    def q(self, obs: Observation, action: Any = None) -> Any:
        """Q of all actions, or of one, through the target network."""
        with torch.no_grad():
            values = self.target(self.one(obs)).numpy()[0] * self.reward_unit()
        return values if action is None else values[int(action)]

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """The loss against given returns and its gradient."""
        observations = tensor(batch["observations"])
        drawn = {"observations": observations, "actions": torch.zeros(len(observations), 1)}
        loss = self.loss(drawn, tensor(batch["returns"]))
        parts = {"critic": list(self.online.parameters())}
        return {"value": {"value": float(loss.detach()), **gradient_norms(loss, parts, self.stepper.parameters)}}
