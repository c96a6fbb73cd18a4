"""Sampling from an actor's network with plain tensors: a tensordict per env step would cost more than the network."""

from __future__ import annotations

import math
from typing import Any

import torch

from rlclinic.lab.torchrl.distances import Tensor
from rlclinic.lab.torchrl.spaces import Floats, Spaces
from rlclinic.model.lazy_dataclass import dataclass

_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Actions of a batch of states, with what the policy was when it chose them."""

    action: Tensor
    log_prob: Tensor
    parameters: dict[str, Tensor]
    """`logits`, or `loc` and `scale`."""


@torch.no_grad()
def sample(actor: Any, spaces: Spaces, observations: Floats) -> Sample:
    """Draw actions of an unsquashed actor."""
    outputs = network_of(actor)(torch.from_numpy(observations))
    if spaces.is_discrete:
        log_probs = outputs.log_softmax(-1)
        action = torch.multinomial(log_probs.exp(), 1)
        return Sample(action.squeeze(-1), log_probs.gather(-1, action).squeeze(-1), {"logits": outputs})
    mean, std = outputs
    noise = torch.randn_like(mean)
    log_prob = (-0.5 * noise.square() - std.log() - _HALF_LOG_TWO_PI).sum(-1)
    return Sample(mean + std * noise, log_prob, {"loc": mean, "scale": std.clone()})


@torch.no_grad()
def mode(actor: Any, spaces: Spaces, observations: Floats) -> Tensor:
    """The most probable action of an unsquashed actor."""
    outputs = network_of(actor)(torch.from_numpy(observations))
    best: Tensor = outputs.argmax(-1) if spaces.is_discrete else outputs[0]
    return best


@torch.no_grad()
def squashed_sample(actor: Any, spaces: Spaces, observations: Floats) -> Tensor:
    """Draw actions of SAC's actor; continuous ones lie within [-1, 1]."""
    if spaces.is_discrete:
        return sample(actor, spaces, observations).action
    mean, std = network_of(actor)(torch.from_numpy(observations))
    return torch.tanh(mean + std * torch.randn_like(mean))


@torch.no_grad()
def squashed_mode(actor: Any, spaces: Spaces, observations: Floats) -> Tensor:
    """The action of SAC's actor without noise."""
    best = mode(actor, spaces, observations)
    return best if spaces.is_discrete else torch.tanh(best)


def network_of(actor: Any) -> Any:
    """The plain network inside a TorchRL actor."""
    return actor.module[0].module
