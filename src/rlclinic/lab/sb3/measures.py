"""What a Stable-Baselines3 model tells of itself, by column of metrics.csv."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import Logger

from rlclinic.lab.instruments.activations import Activations
from rlclinic.lab.instruments.evaluating import evaluating
from rlclinic.lab.instruments.gradients import GradientNorms
from rlclinic.lab.sb3.algorithms import ON_POLICY
from rlclinic.model.lazy_dataclass import dataclass

Q_LEARNING = frozenset({"DQN", "QRDQN"})
# Observations that a measurement of the policy or the critic is taken on: enough for a mean, cheap for a small network.
SAMPLE = 128

# What the algorithms record -> column and sign.
COLUMNS: Mapping[str, tuple[str, float]] = {
    "train/policy_gradient_loss": ("train/opt/loss/policy", 1),
    "train/policy_loss": ("train/opt/loss/policy", 1),
    "train/actor_loss": ("train/opt/loss/policy", 1),
    "train/policy_objective": ("train/opt/loss/policy", -1),
    "train/value_loss": ("train/opt/loss/value", 1),
    "train/critic_loss": ("train/opt/loss/value", 1),
    "train/entropy_loss": ("train/opt/policy/entropy", -1),
    "train/approx_kl": ("train/opt/ppo/approx_kl", 1),
    "train/kl_divergence_loss": ("train/opt/trpo/kl", 1),
    "train/is_line_search_success": ("train/opt/trpo/line_search_success", 1),
    "train/clip_fraction": ("train/opt/ppo/clip_fraction", 1),
    "train/explained_variance": ("train/opt/value/explained_var", 1),
    "train/learning_rate": ("train/hp/policy_lr", 1),
    "train/clip_range": ("train/hp/clip_range", 1),
    "train/clip_range_vf": ("train/hp/clip_range_vf", 1),
    "train/ent_coef": ("train/opt/sac/alpha", 1),
    "train/ent_coef_loss": ("train/opt/sac/alpha_loss", 1),
    "rollout/exploration_rate": ("train/hp/epsilon", 1),
    "train/n_updates": ("train/cnt/updates", 1),
}
# The total loss of the policy-gradient algorithms; of the Q-learning ones it is the TD loss itself.
_LOSS = "train/loss"
# States, not samples: the last value counts.
_LAST = frozenset({"train/learning_rate", "train/n_updates", "train/clip_range", "train/clip_range_vf"})
# Undefined where the returns do not vary; elsewhere a NaN is news.
_MAY_BE_UNDEFINED = "train/explained_variance"


class MeanLogger(Logger):
    """Keeps the mean of everything that is recorded between two rows."""

    def __init__(self) -> None:
        super().__init__(folder=None, output_formats=[])
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._counts: defaultdict[str, int] = defaultdict(int)

    def record(self, key: str, value: Any, exclude: Any = None) -> None:
        if key in _LAST:
            self._sums[key], self._counts[key] = value, 1
        elif value is not None and (key != _MAY_BE_UNDEFINED or value - value == 0.0):
            self._sums[key] += value
            self._counts[key] += 1

    def take(self, algorithm: str) -> dict[str, float]:
        """The columns of the next row; starts anew."""
        loss = "train/opt/loss/total" if algorithm in ON_POLICY else "train/opt/loss/value"
        columns = {**COLUMNS, _LOSS: (loss, 1)}
        found = {}
        for key, total in self._sums.items():
            if key in columns:
                column, sign = columns[key]
                found[column] = sign * float(total) / self._counts[key]
        self._sums.clear()
        self._counts.clear()
        return found


class Measures:
    """Everything that is measured on one model; with its logger also the means of what the algorithm records."""

    def __init__(self, model: Any, algorithm: str, logger: MeanLogger | None = None) -> None:
        self._model = model
        self._algorithm = algorithm
        self._logger = logger
        if logger is not None:
            model.set_logger(logger)
        self._gradients = _gradient_norms(model, algorithm)
        self._advantages: Any = None
        self._sample: _Sample | None = None
        self._greedy: Any = None

    def rollout_ended(self) -> None:
        """Keep the advantages and some states before the next rollout replaces them."""
        if self._algorithm in ON_POLICY:
            # The buffer never writes into these again.
            self._advantages = self._model.rollout_buffer.advantages
            self._sample = _sample(self._model.rollout_buffer)
            if self._logger is None:
                with torch.no_grad():
                    self._greedy = self._model.policy.get_distribution(self._sample.observations).mode()
        elif self._logger is None and self._algorithm in Q_LEARNING and (found := self._remembered()) is not None:
            with torch.no_grad():
                self._greedy = found[0], self._values(found[0]).argmax(dim=1)

    def take(self) -> dict[str, float]:
        """The columns of the next row."""
        row = self._logger.take(self._algorithm) if self._logger is not None else {}
        if "train/hp/policy_lr" in row or self._algorithm in ON_POLICY or self._logger is None:
            row |= _advantage_columns(self._advantages)
            with torch.no_grad(), evaluating(self._model.policy), Activations(self._model.policy) as activations:
                row |= self._policy(row) if self._algorithm in ON_POLICY else self._critic()
            if self._logger is None:
                row |= activations.columns()
                # Of the next row only if it is taken after a rollout of its own: KL is that of one update.
                self._advantages = self._sample = self._greedy = None
            norms = {name: norm for part in self._gradients for name, norm in part.take().items()}
            row |= {f"train/opt/grads/norm/{name}": norm for name, norm in norms.items()}
            if norms and self._algorithm != "TRPO":
                row["train/opt/grads/norm/all"] = float(np.linalg.norm(list(norms.values())))
        if hasattr(self._model, "exploration_rate"):
            row["train/hp/epsilon"] = float(self._model.exploration_rate)
        return row

    def close(self) -> None:
        """Remove the hooks."""
        for part in self._gradients:
            part.close()

    def _policy(self, row: Mapping[str, float]) -> dict[str, float]:
        """Entropy, KL and action spread where the algorithm itself does not tell them."""
        policy, data = self._model.policy, self._sample
        if data is None:
            return {}
        found: dict[str, float] = {}
        distribution = policy.get_distribution(data.observations)
        spread = getattr(distribution.distribution, "stddev", None)
        if hasattr(policy, "log_std") and spread is not None:
            found["train/opt/policy/action_std/mean"] = float(spread.mean())
            found["train/opt/policy/action_std/min"] = float(spread.mean(dim=0).min())
        if "train/opt/policy/entropy" not in row:
            entropy = distribution.entropy()
            if entropy is not None:
                found["train/opt/policy/entropy"] = float(entropy.mean())
        if self._algorithm == "A2C" or self._logger is None:
            actions = data.actions.long().flatten() if hasattr(self._model.action_space, "n") else data.actions
            log_prob = distribution.log_prob(actions)
            ratio = log_prob - data.old_log_prob
            found["train/opt/policy/approx_kl"] = float((ratio.exp() - 1 - ratio).mean())
        if self._logger is None:
            found |= {
                "train/opt/log_prob/mean": float(log_prob.mean()),
                "train/opt/log_prob/std": float(log_prob.std()),
            }
            if self._greedy is not None and hasattr(self._model.action_space, "n"):
                found["train/opt/policy_churn"] = float((distribution.mode() != self._greedy).float().mean())
        return found

    def _critic(self) -> dict[str, float]:
        """Q values on states and actions of the replay buffer. Takes them in order: no random number is used up."""
        model, remembered = self._model, self._remembered()
        if remembered is None:
            return {}
        seen, actions = remembered
        if self._algorithm in Q_LEARNING:
            values = self._values(seen)
            taken = values.gather(1, actions.long())
            found = {"train/opt/q/mean": float(taken.mean()), "train/opt/q/max": float(values.max())}
            if self._greedy is not None:
                states, chosen = self._greedy
                found["train/opt/policy_churn"] = float((self._values(states).argmax(dim=1) != chosen).float().mean())
            return found
        critics = model.critic(seen, actions)
        values = critics.mean(dim=2).T if self._algorithm == "TQC" else torch.cat(critics, dim=1).T
        found = {"train/opt/q/mean": float(values.mean()), "train/opt/q/max": float(values.max())}
        if len(values) > 1:
            found["train/opt/q/spread"] = float((values[0] - values[1]).abs().mean())
            if self._logger is None:
                found |= {f"train/opt/q{at + 1}/mean": float(values[at].mean()) for at in range(2)}
        if self._algorithm in {"SAC", "TQC"}:
            mean, log_std, _ = model.actor.get_action_dist_params(seen)
            if log_std.shape[-1] == actions.shape[-1]:
                found["train/opt/policy/action_std/mean"] = float(log_std.exp().mean())
                found["train/opt/policy/action_std/min"] = float(log_std.exp().mean(dim=0).min())
                if self._logger is None:
                    log_prob = _squashed_log_prob(mean, log_std)
                    found["train/opt/policy/entropy"] = -float(log_prob.mean())
                    found["train/opt/log_prob/mean"] = float(log_prob.mean())
                    found["train/opt/log_prob/std"] = float(log_prob.std(correction=0))
        return found

    def _remembered(self) -> tuple[Any, Any] | None:
        """States of the replay buffer and what was done there."""
        buffer = self._model.replay_buffer
        size = buffer.buffer_size if buffer.full else buffer.pos
        if not size or isinstance(buffer.observations, dict):
            return None
        at, normaliser = _spread_over(size), self._model.get_vec_normalize_env()
        seen = buffer.to_torch(buffer._normalize_obs(buffer.observations[at, 0], normaliser))
        return seen, buffer.to_torch(buffer.actions[at, 0])

    def _values(self, states: Any) -> Any:
        """Of every action, by a Q network."""
        model = self._model
        return model.q_net(states) if self._algorithm == "DQN" else model.quantile_net(states).mean(dim=1)


def _squashed_log_prob(mean: Any, log_std: Any) -> Any:
    """Of actions of a squashed Gaussian, one for each state, drawn by numbers of its own."""
    noise = torch.randn(mean.shape, generator=torch.Generator().manual_seed(0)).to(mean.device)
    slope = 1.0 - torch.tanh(mean + log_std.exp() * noise) ** 2
    return -(0.5 * noise**2 + log_std + 0.5 * math.log(2 * math.pi) + torch.log(slope + 1e-6)).sum(dim=1)


# Beginnings of parameter names -> part of an actor-critic policy. The first that fits counts.
_PARTS = (
    ("mlp_extractor.policy_net", "actor"),
    ("action_net", "actor"),
    ("log_std", "actor"),
    ("mlp_extractor.value_net", "critic"),
    ("value_net", "critic"),
    ("pi_features_extractor", "trunk"),
    ("features_extractor", "trunk"),
    ("vf_features_extractor", "critic"),
)


@lru_cache(maxsize=8)
def _spread_over(size: int) -> Any:
    """Places of a sample of so many entries; of a full buffer always the same."""
    return np.unique(np.linspace(0, size - 1, SAMPLE).astype(int))


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some states of a rollout, with what was done there."""

    observations: Any
    actions: Any
    old_log_prob: Any


def _sample(buffer: Any) -> _Sample:
    """States spread over all environments and steps of a rollout, in an order that uses up no random number."""
    environment, step = np.divmod(_spread_over(buffer.buffer_size * buffer.n_envs), buffer.buffer_size)

    def taken(array: Any) -> Any:
        return buffer.to_torch(array[step, environment])

    seen = buffer.observations
    return _Sample(
        {key: taken(part) for key, part in seen.items()} if isinstance(seen, dict) else taken(seen),
        taken(buffer.actions.astype(np.float32, copy=False)),
        taken(buffer.log_probs).flatten(),
    )


def _advantage_columns(advantages: Any) -> dict[str, float]:
    """As computed, before any normalisation."""
    if advantages is None:
        return {}
    return {
        "train/roll/adv/mean": float(advantages.mean()),
        "train/roll/adv/std": float(advantages.std()),
        "train/roll/adv/abs_max": float(np.abs(advantages).max()),
    }


def _gradient_norms(model: Any, algorithm: str) -> list[GradientNorms]:
    if algorithm in {"SAC", "TD3", "TQC"}:
        return [
            GradientNorms(model.actor.optimizer, {"actor": model.actor.parameters()}),
            GradientNorms(model.critic.optimizer, {"critic": model.critic.parameters()}),
        ]
    if algorithm in Q_LEARNING:
        network = model.q_net if algorithm == "DQN" else model.quantile_net
        parts = {"trunk": list(network.features_extractor.parameters())}
        trunk = {id(parameter) for parameter in parts["trunk"]}
        parts["critic"] = [parameter for parameter in network.parameters() if id(parameter) not in trunk]
        return [GradientNorms(model.policy.optimizer, {name: part for name, part in parts.items() if part})]
    found: dict[str, list[Any]] = {}
    for name, parameter in model.policy.named_parameters():
        part = next((part for start, part in _PARTS if name.startswith(start)), "trunk")
        found.setdefault(part, []).append(parameter)
    if algorithm == "TRPO":
        # Its actor moves by a line search, not by a backward pass.
        found = {"critic": found["critic"]}
    return [GradientNorms(model.policy.optimizer, found)]
