"""Soft actor-critic with twin critics and an automatic or fixed temperature."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from rlclinic.probes.protocol import Observation

from .base import only_box
from .networks import Layers, Stepper, Twins, gradient_norms, tensor
from .off_policy import REPLAY, OffPolicy

FIRST_TEMPERATURE = 1.0
"""Of an automatic temperature."""
EDGE = 1e-6
"""Distance that an action keeps from the edge before its tanh is undone."""


class SAC(OffPolicy):
    """Continuous actions, squashed by tanh."""

    defaults: Mapping[str, Any] = {**REPLAY, "temperature": "auto", "target_entropy": None}

    def policy_space(self, space: Any) -> Any:
        """A box."""
        return only_box(space)

    def build(self) -> None:
        """Actor, twin critics, their target, and the temperature."""
        settings, size = self.settings, self.space.size
        self.actor = Layers(self.inputs, settings["hidden_sizes"], self.space.outputs, last_scale=0.1)
        self.online = Twins(self.inputs + size, settings["hidden_sizes"])
        self.target = deepcopy(self.online)
        self.automatic = settings["temperature"] == "auto"
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.fixed_alpha = FIRST_TEMPERATURE if self.automatic else float(settings["temperature"])
        self.goal_entropy = -float(size) if settings["target_entropy"] is None else settings["target_entropy"]
        pace = (settings["learning_rate"], settings["max_grad_norm"])
        self.actor_stepper = Stepper(self.actor.parameters(), *pace)
        self.critic_stepper = Stepper(self.online.parameters(), *pace)
        self.alpha_stepper = Stepper([self.log_alpha], *pace)

    def action_size(self) -> int:
        """Dimensions."""
        return int(self.space.size)

    def temperature(self) -> float:
        """alpha."""
        return float(self.log_alpha.detach().exp()) if self.automatic else self.fixed_alpha

    def noise(self, count: int) -> torch.Tensor:
        """Standard normal."""
        return tensor(self.rng.normal(size=(count, self.space.size)))

    def explore(self, observations: Any) -> Any:
        """Uniform until learning starts, then a sample of the policy."""
        if self.envs.steps < self.settings["learning_starts"]:
            return self.rng.uniform(-1.0, 1.0, size=(len(observations), self.space.size))
        with torch.no_grad():
            return self.space.sample(self.actor(tensor(observations)).numpy(), self.rng)

    def policy(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """A differentiable sample with its log-probability."""
        actions, log_prob = self.space.reparameterised(self.actor(observations), self.noise(len(observations)))
        return actions, log_prob

    def greedy(self, inputs: torch.Tensor) -> Any:
        """The squashed mean."""
        return self.space.greedy(self.actor(inputs)).numpy()

    def learn(self, batch: dict[str, torch.Tensor]) -> None:
        """Critics, actor, temperature."""
        self.critic_stepper.descend(self.critic_loss(batch, self.targets_of(batch)))
        actions, log_prob = self.policy(batch["observations"])
        self.actor_stepper.descend(self.actor_loss(batch["observations"], actions, log_prob))
        if self.automatic:
            self.alpha_stepper.descend(self.alpha_loss(log_prob.detach()))

    def targets_of(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Reward plus discounted soft value of the next state."""
        with torch.no_grad():
            actions, log_prob = self.policy(batch["following"])
            values = self.target(torch.cat([batch["following"], actions], dim=-1)).min(0).values
            soft = values - self.temperature() * log_prob
            return batch["rewards"] + batch["bootstrap"] * soft

    def critic_loss(self, batch: dict[str, torch.Tensor], targets: torch.Tensor) -> torch.Tensor:
        """Squared error of both critics."""
        values = self.online(torch.cat([batch["observations"], batch["actions"]], dim=-1))
        return functional.mse_loss(values, targets.expand_as(values))

    def actor_loss(self, observations: torch.Tensor, actions: torch.Tensor, log_prob: torch.Tensor) -> torch.Tensor:
        """Minus the soft value."""
        values = self.online(torch.cat([observations, actions], dim=-1)).min(0).values
        return (self.temperature() * log_prob - values).mean()

    def alpha_loss(self, log_prob: torch.Tensor) -> torch.Tensor:
        """Falls in alpha while the entropy is below its goal."""
        return -(self.log_alpha * (log_prob + self.goal_entropy)).mean()

    def q(self, obs: Observation, action: Any = None) -> float:
        """The smaller Q of the target critics."""
        taken = self.act(obs) if action is None else action
        own = tensor(np.atleast_2d(self.space.from_env(taken)))
        with torch.no_grad():
            return float(self.target(torch.cat([self.one(obs), own], dim=-1)).min()) * self.reward_unit()

    def log_prob(self, obs: Observation, actions: Any) -> Any:
        """Log-density of actions as the environment receives them; none outside the box."""
        own = np.asarray(self.space.from_env(actions), np.float32)
        before = torch.atanh(tensor(own).clamp(-1 + EDGE, 1 - EDGE))
        with torch.no_grad():
            mean, log_std = self.space.parameters_of(self.actor(self.one(obs)).expand(len(own), -1))
            found = self.space.log_density(before, mean, log_std).numpy()
        return np.where(np.abs(own).max(axis=1) < 1, found, -np.inf) - np.log(self.space.half).sum()

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Both losses and the gradients that each one's optimiser receives."""
        observations = tensor(batch["observations"])
        actions, log_prob = self.policy(observations)
        drawn = {"observations": observations, "actions": actions.detach()}
        terms = {
            "policy": (self.actor_loss(observations, actions, log_prob), self.actor_stepper),
            "value": (self.critic_loss(drawn, tensor(batch["returns"])), self.critic_stepper),
        }
        parts = {"actor": list(self.actor.parameters()), "critic": list(self.online.parameters())}
        return {
            name: {"value": float(loss.detach()), **gradient_norms(loss, parts, stepper.parameters)}
            for name, (loss, stepper) in terms.items()
        }
