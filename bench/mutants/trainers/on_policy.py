"""Rollouts, advantages and the two networks of on-policy trainers; the policy loss is each trainer's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from rlclinic.probes.protocol import Observation

from .base import COMMON, Base, discrete_or_gaussian
from .networks import Layers, Stepper, gradient_norms, tensor

ROLLOUT: Mapping[str, Any] = {
    **COMMON, "n_steps": 32, "gae_lambda": 0.95, "normalize_advantage": False, "entropy_coefficient": 0.0,
    "value_coefficient": 0.5,
}  # fmt: skip
Batch = dict[str, torch.Tensor]


class OnPolicy(Base):
    """Collects a rollout, estimates advantages, learns from it, forgets it."""

    family = "on-policy"
    defaults = ROLLOUT

    def policy_space(self, space: Any) -> Any:
        """Discrete, several heads, or a box."""
        return discrete_or_gaussian(space)

    def build(self) -> None:
        """An actor, a critic, one optimiser."""
        hidden = self.settings["hidden_sizes"]
        self.actor = Layers(self.inputs, hidden, self.space.outputs, last_scale=0.1)
        self.critic = Layers(self.inputs, hidden, 1)
        self.stepper = Stepper(
            [*self.actor.parameters(), *self.space.parameters(), *self.critic.parameters()],
            self.settings["learning_rate"], self.settings["max_grad_norm"],
        )  # fmt: skip

    def train(self, env_steps: int) -> None:
        """Whole rollouts until so many steps are made."""
        goal = self.envs.steps + env_steps
        while self.envs.steps < goal:
            self.update(self.collect())

    def collect(self) -> Batch:
        """One rollout with its advantages and returns, flat over steps and environments."""
        rows: list[dict[str, Any]] = []
        for _ in range(self.settings["n_steps"]):
            observations = self.normalised(self.envs.frames.copy())
            actions = self.sample(observations)
            transition = self.step(actions)
            rows.append({
                "observations": observations,
                "actions": actions,
                "rewards": transition.rewards,
                "following": self.normalised(transition.following),
                "terminated": transition.terminated,
                "truncated": transition.truncated,
            })  # fmt: skip
        rollout = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return self.prepared(rollout)

    def prepared(self, rollout: dict[str, Any]) -> Batch:
        """Values, advantages, returns and log-probabilities of the policy that acted."""
        values = self.values(rollout["observations"])
        next_values = self.values(rollout["following"])
        advantages = self.estimate(rollout["rewards"], values, next_values, rollout["terminated"], rollout["truncated"])
        learned = {"values": values, "advantages": advantages, "returns": advantages + values}
        learned |= {name: rollout[name] for name in ("observations", "actions")}
        batch = {name: tensor(array).flatten(0, 1) for name, array in learned.items()}
        batch["log_probs"] = self.acting_log_prob(batch["observations"], batch["actions"])
        return batch

    def values(self, observations: Any) -> Any:
        """The critic's values, of the shape (steps, environments)."""
        with torch.no_grad():
            return self.critic(tensor(observations)).squeeze(-1).numpy()

    def estimate(self, rewards: Any, values: Any, next_values: Any, terminated: Any, truncated: Any) -> Any:
        """Generalised advantage estimation; every array is (steps, environments)."""
        gamma, lam = self.gamma, self.settings["gae_lambda"]
        ended = np.maximum(terminated, truncated)
        advantages, trace = np.zeros_like(rewards), np.zeros(rewards.shape[1])
        for step in reversed(range(len(rewards))):
            delta = rewards[step] + gamma * (1 - terminated[step]) * next_values[step] - values[step]
            trace = delta + gamma * lam * (1 - ended[step]) * trace
            advantages[step] = trace
        return advantages

    def sample(self, observations: Any) -> Any:
        """Actions in the policy's units."""
        with torch.no_grad():
            outputs = self.actor(tensor(observations)).numpy()
        return self.space.sample(outputs, self.rng)

    def greedy(self, inputs: torch.Tensor) -> Any:
        """The likeliest action."""
        return self.space.greedy(self.actor(inputs).numpy())

    def acting_log_prob(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Log-probabilities under the policy as it acted."""
        with torch.no_grad():
            return self.log_prob_of(observations, actions)

    def log_prob_of(self, observations: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Log-probabilities under the policy as it is."""
        return self.space.log_prob(self.actor(observations), actions)

    def update(self, batch: Batch) -> None:
        """One gradient step on the whole rollout."""
        self.learn(batch)

    def minibatches(self, batch: Batch) -> Iterator[Batch]:
        """A shuffled pass over the rollout."""
        count = len(batch["returns"])
        order = torch.as_tensor(self.rng.permutation(count))
        for start in range(0, count, self.settings["batch_size"]):
            chosen = order[start : start + self.settings["batch_size"]]
            yield {name: values[chosen] for name, values in batch.items()}

    def learn(self, batch: Batch) -> None:
        """One gradient step."""
        advantages = self.scaled_advantages(batch["advantages"])
        loss = self.policy_loss(batch, advantages)
        if self.settings["entropy_coefficient"]:
            loss = loss - self.settings["entropy_coefficient"] * self.entropy(batch)
        loss = loss + self.settings["value_coefficient"] * self.value_loss(batch)
        self.stepper.descend(loss)

    def scaled_advantages(self, advantages: torch.Tensor) -> torch.Tensor:
        """Normalised over the batch, where that is asked for."""
        if not self.settings["normalize_advantage"] or len(advantages) < 2:
            return advantages
        return (advantages - advantages.mean()) / (advantages.std() + 1e-8)

    def policy_loss(self, batch: Batch, advantages: torch.Tensor) -> torch.Tensor:
        """The score-function gradient."""
        return -(self.log_prob_of(batch["observations"], batch["actions"]) * advantages).mean()

    def value_loss(self, batch: Batch) -> torch.Tensor:
        """Squared distance from the returns."""
        return functional.mse_loss(self.critic(batch["observations"]).squeeze(-1), batch["returns"])

    def entropy(self, batch: Batch) -> torch.Tensor:
        """Mean entropy of the policy."""
        return self.space.entropy(self.actor(batch["observations"])).mean()

    def value(self, obs: Observation) -> float:
        """V in raw reward."""
        with torch.no_grad():
            return float(self.critic(self.one(obs))) * self.reward_unit()

    def action_probabilities(self, obs: Observation) -> Any:
        """Of a single discrete head."""
        with torch.no_grad():
            return self.actor(self.one(obs)).softmax(-1).numpy()[0]

    def log_prob(self, obs: Observation, actions: Any) -> Any:
        """Log-density of actions as the environment receives them."""
        own = tensor(self.space.from_env(actions))
        with torch.no_grad():
            found = self.log_prob_of(self.one(obs).expand(len(own), -1), own)
        return found.numpy() - np.log(self.space.half).sum()

    def advantages(self, batch: Mapping[str, Any]) -> Any:
        """Of a ready-made batch."""
        return self.estimate(
            batch["rewards"], batch["values"], batch["next_values"], batch["terminated"], batch["truncated"]
        )

    def log_ratio(self, batch: Mapping[str, Any]) -> Any:
        """Sampled and stored as in a rollout, evaluated as in the update."""
        drawn = self.drawn(batch)
        with torch.no_grad():
            return (self.log_prob_of(drawn["observations"], drawn["actions"]) - drawn["log_probs"]).numpy()

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Both losses and the gradients that the optimiser receives from them."""
        drawn = self.drawn(batch)
        drawn |= {name: tensor(batch[name]) for name in ("advantages", "returns")}
        drawn["values"] = drawn["returns"]
        terms = {"policy": self.policy_loss(drawn, drawn["advantages"]), "value": self.value_loss(drawn)}
        parts = {
            "actor": [*self.actor.parameters(), *self.space.parameters()],
            "critic": list(self.critic.parameters()),
        }
        return {
            name: {"value": float(loss.detach()), **gradient_norms(loss, parts, self.stepper.parameters)}
            for name, loss in terms.items()
        }

    def drawn(self, batch: Mapping[str, Any]) -> Batch:
        """Actions for given observations, with the log-probabilities that a rollout would keep."""
        observations = tensor(self.normalised(np.asarray(batch["observations"], np.float32)))
        actions = tensor(self.sample(observations))
        return {
            "observations": observations,
            "actions": actions,
            "log_probs": self.acting_log_prob(observations, actions),
        }
