"""SAC with TorchRL's losses, for continuous and for discrete actions."""

from __future__ import annotations

import math
from typing import Any

import torch
from tensordict import TensorDictBase
from torchrl.objectives import DiscreteSACLoss, SACLoss, SoftUpdate

from rlclinic.lab.torchrl.learners.base import Columns, Means
from rlclinic.lab.torchrl.networks import Shape, action_value, squashed_policy
from rlclinic.lab.torchrl.optimiser import TEMPERATURE, Optimiser, gradient_columns
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.policy_step import network_of
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.model.errors import UsageError

# Target entropy of discrete actions: this share of the entropy of a uniform policy (Christodoulou 2019).
DISCRETE_TARGET = 0.98

_COLUMNS = {
    "loss_actor": "train/opt/loss/policy",
    "loss_qvalue": "train/opt/loss/value",
    "loss_alpha": "train/opt/sac/alpha_loss",
    "alpha": "train/opt/sac/alpha",
    "entropy": "train/opt/policy/entropy",
    "td_error": "train/opt/q/td_error",
}


class SACLearner:
    """Soft actor-critic with two critics and a learned or fixed temperature."""

    def __init__(self, options: Options, spaces: Spaces) -> None:
        shape = Shape(
            options.sizes("net_arch"), options.sizes("net_arch_critic"), options.word("activation"), orthogonal=False
        )
        self._spaces = spaces
        self.actor = squashed_policy(spaces, shape)
        critic = action_value(spaces, shape)
        alpha, learned = _temperature(options)
        self.target_entropy = _target_entropy(options, spaces)
        common = {
            "loss_function": "l2",
            "alpha_init": alpha,
            "fixed_alpha": not learned,
            "target_entropy": self.target_entropy,
        }
        if spaces.is_discrete:
            self.loss: Any = DiscreteSACLoss(
                self.actor, critic, action_space="categorical", num_actions=spaces.action_size, **common
            )
        else:
            self.loss = SACLoss(self.actor, critic, **common)
        self.loss.make_value_estimator(gamma=options.number("gamma"))
        self._targets = SoftUpdate(self.loss, tau=options.number("tau"))
        self._optimisers = {
            "actor": Optimiser({"actor": _leaves(self.loss.actor_network_params)}, options),
            "critic": Optimiser({"critic": _leaves(self.loss.qvalue_network_params)}, options, "learning_rate_critic"),
        }
        if learned:
            self._optimisers[TEMPERATURE] = Optimiser(
                {TEMPERATURE: [self.loss.log_alpha]}, options, "learning_rate_alpha"
            )
        self._means = Means()
        self._last: TensorDictBase | None = None

    def optimisers(self) -> dict[str, Optimiser]:
        """Every optimiser by name."""
        return self._optimisers

    def modules(self) -> dict[str, torch.nn.Module]:
        """Actor, critics, their targets and the temperature."""
        return {"sac": self.loss}

    def learn(self, batch: TensorDictBase) -> None:
        """One gradient step of critics, actor and temperature, then the targets follow."""
        out = self.loss(batch)
        self._optimisers["critic"].step(out["loss_qvalue"])
        self._optimisers["actor"].step(out["loss_actor"])
        if TEMPERATURE in self._optimisers:
            self._optimisers[TEMPERATURE].step(out["loss_alpha"])
        self._targets.step()
        found = {key: float(value.detach()) for key, value in out.items()}
        self._means.add({**found, "td_error": float(batch["td_error"].mean())})
        self._last = batch

    def take_columns(self) -> Columns:
        """What was measured since the last call; empty before the first update."""
        if self._last is None:
            return {}
        columns = {**self._means.columns(_COLUMNS), **self._values(self._last), **self._spread(self._last)}
        self._means = Means()
        columns |= gradient_columns(self._optimisers.values())
        columns["train/hp/policy_lr"] = self._optimisers["actor"].learning_rate
        columns["train/hp/target_entropy"] = self.target_entropy
        self._last = None
        return columns

    @torch.no_grad()
    def _values(self, batch: TensorDictBase) -> Columns:
        """What both critics say of the actions of a batch."""
        inputs = batch.select(*self.loss.qvalue_network.in_keys)
        found = self.loss._vmap_qnetworkN0(inputs, self.loss.qvalue_network_params)
        if self._spaces.is_discrete:
            each = found["action_value"]
            chosen = batch["action"].expand(len(each), -1).unsqueeze(-1)
            values = each.gather(-1, chosen).squeeze(-1)
        else:
            values = found["state_action_value"].squeeze(-1)
        return {
            "train/opt/q/mean": float(values.mean()),
            "train/opt/q/max": float(values.max()),
            "train/opt/q/min": float(values.min()),
            "train/opt/q/spread": float((values[0] - values[1]).abs().mean()),
        }

    @torch.no_grad()
    def _spread(self, batch: TensorDictBase) -> Columns:
        if self._spaces.is_discrete:
            return {}
        std = network_of(self.actor)(batch["observation"])[1]
        return {
            "train/opt/policy/action_std/mean": float(std.mean()),
            "train/opt/policy/action_std/min": float(std.min()),
        }


def _temperature(options: Options) -> tuple[float, bool]:
    """First value of alpha, and whether it is learned: `auto`, `auto_0.1`, or a fixed number."""
    value = options.value("ent_coef")
    if not isinstance(value, str):
        return options.number("ent_coef"), False
    word, _, first = value.partition("_")
    try:
        alpha = float(first) if first else 1.0
    except ValueError:
        alpha = 0.0
    if word != "auto" or alpha <= 0:
        raise UsageError(f"ent_coef = {value!r}", hint="a number, auto, or auto_0.1 to start from 0.1")
    return alpha, True


def _target_entropy(options: Options, spaces: Spaces) -> float:
    if options.value("target_entropy") != "auto":
        return options.number("target_entropy")
    return DISCRETE_TARGET * math.log(spaces.action_size) if spaces.is_discrete else -float(spaces.action_size)


def _leaves(parameters: Any) -> list[Any]:
    return list(parameters.flatten_keys().values())
