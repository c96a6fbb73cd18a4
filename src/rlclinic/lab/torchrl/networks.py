"""Actors and critics as TorchRL modules around small fully connected networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.modules import IndependentNormal, ProbabilisticActor, TanhNormal, ValueOperator

from rlclinic.lab.torchrl.distances import Tensor
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.model.lazy_dataclass import dataclass

ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU, "elu": nn.ELU, "gelu": nn.GELU}
# Bounds of a log standard deviation that the network gives: those of the SAC paper's code.
LOG_STD_RANGE = (-20.0, 2.0)
# Gains of orthogonal initialisation: hidden layers, the policy's last layer (near-uniform start), the value's.
HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN = math.sqrt(2.0), 0.01, 1.0


@dataclass(frozen=True, slots=True)
class Shape:
    """How the networks are built."""

    actor: tuple[int, ...]
    critic: tuple[int, ...]
    activation: str
    orthogonal: bool
    log_std: float = 0.0
    """Initial log standard deviation of an on-policy Gaussian."""


class GaussianHead(nn.Module):
    """A mean per state and one standard deviation per action dimension that all states share."""

    def __init__(self, body: nn.Module, size: int, log_std: float) -> None:
        super().__init__()
        self.body = body
        self.log_std = nn.Parameter(torch.full((size,), float(log_std)))

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation."""
        mean = self.body(observation)
        return mean, self.log_std.exp().expand_as(mean)


class SquashedHead(nn.Module):
    """A mean and a standard deviation per state, to be squashed into the action range."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation before squashing."""
        mean, log_std = self.body(observation).chunk(2, -1)
        return mean, log_std.clamp(*LOG_STD_RANGE).exp()


class ActionValue(nn.Module):
    """Q(s, a) of a continuous action."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, observation: Tensor, action: Tensor) -> Tensor:
        """One value per row."""
        value: Tensor = self.body(torch.cat([observation, action], -1))
        return value


def policy(spaces: Spaces, shape: Shape) -> Any:
    """The actor of the on-policy algorithms: categorical, or Gaussian (bounds are applied by the environment)."""
    body = _network(spaces.observation_size, shape.actor, spaces.action_size, shape, POLICY_GAIN)
    if spaces.is_discrete:
        return _actor(body, ["logits"], torch.distributions.Categorical)
    return _actor(GaussianHead(body, spaces.action_size, shape.log_std), ["loc", "scale"], IndependentNormal)


def squashed_policy(spaces: Spaces, shape: Shape) -> Any:
    """The actor of SAC: categorical, or a tanh-Gaussian within [-1, 1]."""
    outputs = spaces.action_size if spaces.is_discrete else 2 * spaces.action_size
    body = _network(spaces.observation_size, shape.actor, outputs, shape, None)
    if spaces.is_discrete:
        return _actor(body, ["logits"], torch.distributions.Categorical)
    return _actor(SquashedHead(body), ["loc", "scale"], TanhNormal)


def state_value(spaces: Spaces, shape: Shape) -> Any:
    """V(s)."""
    return ValueOperator(_network(spaces.observation_size, shape.critic, 1, shape, VALUE_GAIN), in_keys=["observation"])


def action_value(spaces: Spaces, shape: Shape) -> Any:
    """Q(s, a): one output per discrete action, or the action as an input."""
    if spaces.is_discrete:
        body = _network(spaces.observation_size, shape.critic, spaces.action_size, shape, None)
        return TensorDictModule(body, in_keys=["observation"], out_keys=["action_value"])
    body = _network(spaces.observation_size + spaces.action_size, shape.critic, 1, shape, None)
    return ValueOperator(ActionValue(body), in_keys=["observation", "action"])


def _actor(network: nn.Module, keys: list[str], distribution: Any) -> Any:
    return ProbabilisticActor(
        TensorDictModule(network, in_keys=["observation"], out_keys=keys),
        in_keys=keys,
        distribution_class=distribution,
        return_log_prob=True,
    )


def _network(inputs: int, hidden: Sequence[int], outputs: int, shape: Shape, last_gain: float | None) -> nn.Sequential:
    layers: list[nn.Module] = []
    sizes = [inputs, *hidden]
    for before, after in pairwise(sizes):
        layers += [_linear(before, after, HIDDEN_GAIN if shape.orthogonal else None), ACTIVATIONS[shape.activation]()]
    layers.append(_linear(sizes[-1], outputs, last_gain if shape.orthogonal else None))
    return nn.Sequential(*layers)


def _linear(inputs: int, outputs: int, gain: float | None) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    if gain is not None:
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return layer
