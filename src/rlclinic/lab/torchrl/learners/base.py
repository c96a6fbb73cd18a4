"""What the on-policy algorithms share: networks, one optimiser, and the statistics of a batch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from tensordict import TensorDictBase

from rlclinic.lab.torchrl.advantages import add_advantages
from rlclinic.lab.torchrl.distances import Tensor
from rlclinic.lab.torchrl.mmrkhs_loss import gaussian_of
from rlclinic.lab.torchrl.networks import Shape, policy, state_value
from rlclinic.lab.torchrl.optimiser import Optimiser, gradient_columns
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.spaces import Spaces

Columns = dict[str, float]
# What only a learned baseline has.
OF_THE_CRITIC = frozenset({"train/roll/value/mean", "train/opt/value/explained_var"})


class Learner(ABC):
    """An on-policy algorithm: one call of `update` per rollout."""

    whole_episodes: ClassVar[bool] = False
    """Whether rollouts must end where episodes end."""
    trace: float
    """Lambda of the advantage estimate."""

    def __init__(self, options: Options, spaces: Spaces) -> None:
        shape = Shape(
            options.sizes("net_arch"),
            options.sizes("net_arch_critic"),
            options.word("activation"),
            options.flag("ortho_init"),
            options.number("log_std_init"),
        )
        self.options = options
        self.actor = policy(spaces, shape)
        self.critic = state_value(spaces, shape)
        self.gamma = options.number("gamma")

    @abstractmethod
    def optimisers(self) -> dict[str, Optimiser]:
        """Every optimiser by name, for checkpoints and schedules."""

    @abstractmethod
    def learn(self, batch: TensorDictBase) -> Columns:
        """Improve the networks with a flat batch that has its advantages; what was measured on the way."""

    def counters(self) -> dict[str, float]:
        """Numbers beside weights that a resumed run needs."""
        return {}

    def set_counters(self, counters: dict[str, float]) -> None:  # noqa: B027 - most have none
        """Go on from `counters`."""

    def modules(self) -> dict[str, torch.nn.Module]:
        """Networks by name, for checkpoints."""
        return {"actor": self.actor, "critic": self.critic}

    def update(self, rollout: TensorDictBase, progress: float) -> Columns:
        """One iteration on a rollout of [environments, time], at a share of the budget."""
        for optimiser in self.optimisers().values():
            optimiser.at(progress)
        add_advantages(rollout, self.baseline(), self.gamma, self.trace)
        flat = rollout.reshape(-1)
        batch = flat if bool(rollout["mask"].all()) else flat[flat["mask"]]
        columns = {**self._rollout_columns(batch), **self.learn(batch), **self._policy_columns(batch)}
        first = next(iter(self.optimisers().values()))
        columns |= gradient_columns(self.optimisers().values())
        columns["train/hp/policy_lr"] = first.learning_rate
        columns["train/hp/ent_coef"] = self.options.number("ent_coef")
        return columns

    def baseline(self) -> Any:
        """The critic that advantages are taken against; None for none."""
        return self.critic

    def _rollout_columns(self, batch: TensorDictBase) -> Columns:
        """What was collected; without a baseline its values are zeros, which would read as those of a critic."""
        columns = rollout_columns(batch)
        return columns if self.baseline() is not None else {k: v for k, v in columns.items() if k not in OF_THE_CRITIC}

    @torch.no_grad()
    def _policy_columns(self, batch: TensorDictBase) -> Columns:
        """The policy after the update, on the states of the batch."""
        dist = self.actor.get_dist(batch.select("observation"))
        columns = {"train/opt/policy/entropy": float(dist.entropy().mean())}
        if not hasattr(dist, "logits"):
            std = gaussian_of(dist)[1]
            columns["train/opt/policy/action_std/mean"] = float(std.mean())
            columns["train/opt/policy/action_std/min"] = float(std.min())
        return columns


def minibatches(batch: TensorDictBase, size: int) -> Iterator[TensorDictBase]:
    """The batch once, shuffled, in parts; a last part of one sample is left out, it has no spread."""
    order = torch.randperm(len(batch))
    for start in range(0, len(batch), size):
        chosen = order[start : start + size]
        if len(chosen) > 1 or size == 1:
            yield batch[chosen]


def normalised(advantage: Tensor) -> Tensor:
    """Zero mean and unit spread."""
    return (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def rollout_columns(batch: TensorDictBase) -> Columns:
    """Advantages, values and observations of a batch, before normalisation."""
    advantage, value, target = batch["advantage"], batch["state_value"], batch["value_target"]
    spread = float(target.var())
    explained = 1.0 - float((target - value).var()) / spread if spread > 0 else math.nan
    return {
        "train/roll/adv/mean": float(advantage.mean()),
        "train/roll/adv/std": float(advantage.std()),
        "train/roll/adv/abs_max": float(advantage.abs().max()),
        "train/roll/return/mean": float(target.mean()),
        "train/roll/value/mean": float(value.mean()),
        "train/opt/value/explained_var": explained,
        "train/roll/obs/mean": float(batch["observation"].mean()),
        "train/roll/obs/std": float(batch["observation"].std()),
    }


class Means:
    """Means of what minibatches measured."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._count = 0

    def add(self, values: dict[str, float]) -> None:
        """Take one minibatch into account."""
        self._count += 1
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value

    def columns(self, names: dict[str, str]) -> Columns:
        """Means under the names of columns."""
        return {column: self._sums[name] / self._count for name, column in names.items() if name in self._sums}
