"""Policies over the three kinds of action spaces: what a network's output means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
LOG_STD_RANGE = (-5.0, 2.0)
"""Of a squashed Gaussian."""


class Heads(nn.Module):
    """One categorical variable per head; a Discrete space has one head."""

    def __init__(self, sizes: tuple[int, ...], *, single: bool) -> None:
        super().__init__()
        self.sizes, self.single = sizes, single
        self.outputs = sum(sizes)
        self.edges = list(np.cumsum(sizes)[:-1])

    def sample(self, outputs: Any, rng: np.random.Generator) -> Any:
        """Gumbel's trick: the largest of the disturbed logits."""
        return self.greedy(outputs + rng.gumbel(size=outputs.shape))

    def greedy(self, outputs: Any) -> Any:
        """The likeliest value of each head."""
        return np.stack([part.argmax(axis=-1) for part in np.split(outputs, self.edges, axis=-1)], axis=-1)

    def log_prob(self, outputs: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Summed over heads."""
        heads = outputs.split(self.sizes, dim=-1)
        chosen = actions.long().unbind(-1)
        return torch.stack([
            head.log_softmax(-1).gather(-1, index.unsqueeze(-1)).squeeze(-1)
            for head, index in zip(heads, chosen, strict=True)
        ]).sum(0)  # fmt: skip

    def entropy(self, outputs: torch.Tensor) -> torch.Tensor:
        """Summed over heads."""
        logs = [head.log_softmax(-1) for head in outputs.split(self.sizes, dim=-1)]
        return torch.stack([-(log.exp() * log).sum(-1) for log in logs]).sum(0)

    def to_env(self, actions: Any) -> list[Any]:
        """Integers for a Discrete space, arrays for several heads."""
        return [int(row[0]) for row in actions] if self.single else list(actions)


class Gaussian(nn.Module):
    """A Gaussian with its own deviation, in units of the box's half widths; clipped by the environment's side only."""

    def __init__(self, low: Any, high: Any) -> None:
        super().__init__()
        self.outputs = len(low)
        self.centre, self.half = (high + low) / 2, (high - low) / 2
        self.log_std = nn.Parameter(torch.full((self.outputs,), -0.5))

    def sample(self, outputs: Any, rng: np.random.Generator) -> Any:
        """Mean plus noise."""
        deviation = np.exp(self.log_std.detach().numpy())
        return (outputs + deviation * rng.normal(size=outputs.shape)).astype(np.float32)

    def greedy(self, outputs: Any) -> Any:
        """The mean."""
        return outputs

    def log_prob(self, outputs: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        """Summed over dimensions."""
        distance = (actions - outputs) * torch.exp(-self.log_std)
        return (-0.5 * distance**2 - self.log_std - HALF_LOG_TAU).sum(-1)

    def entropy(self, outputs: torch.Tensor) -> torch.Tensor:
        """Summed over dimensions; the same everywhere."""
        return (self.log_std + 0.5 + HALF_LOG_TAU).sum(-1).expand(len(outputs))

    def to_env(self, actions: Any) -> list[Any]:
        """Into the box: clipped, then scaled to the bounds of each dimension."""
        return list((self.centre + self.half * np.clip(actions, -1.0, 1.0)).astype(np.float32))

    def from_env(self, actions: Any) -> Any:
        """Back to the policy's units."""
        return (np.asarray(actions) - self.centre) / self.half


class SquashedGaussian(nn.Module):
    """tanh of a Gaussian whose mean and deviation both come from the network."""

    def __init__(self, low: Any, high: Any) -> None:
        super().__init__()
        self.size = len(low)
        self.outputs = 2 * self.size
        self.centre, self.half = (high + low) / 2, (high - low) / 2

    def parameters_of(self, outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and log of the deviation before squashing."""
        mean, log_std = outputs.chunk(2, dim=-1)
        return mean, log_std.clamp(*LOG_STD_RANGE)

    def reparameterised(self, outputs: torch.Tensor, noise: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions in the unit box with their log-probabilities, differentiable."""
        mean, log_std = self.parameters_of(outputs)
        before = mean + log_std.exp() * noise
        return torch.tanh(before), self.log_density(before, mean, log_std)

    def log_density(self, before: torch.Tensor, mean: torch.Tensor, log_std: torch.Tensor) -> torch.Tensor:
        """Of the squashed action, at its value before squashing; summed over dimensions."""
        distance = (before - mean) * torch.exp(-log_std)
        gaussian = -0.5 * distance**2 - log_std - HALF_LOG_TAU
        return (gaussian - log_slope(before)).sum(-1)

    def sample(self, outputs: Any, rng: np.random.Generator) -> Any:
        """For acting: no gradient, no log-probability."""
        mean, log_std = outputs[..., : self.size], np.clip(outputs[..., self.size :], *LOG_STD_RANGE)
        return np.tanh(mean + np.exp(log_std) * rng.normal(size=mean.shape))

    def greedy(self, outputs: torch.Tensor) -> Any:
        """The squashed mean."""
        return torch.tanh(self.parameters_of(outputs)[0])

    def to_env(self, actions: Any) -> list[Any]:
        """Scaled to the bounds of each dimension."""
        return list((self.centre + self.half * actions).astype(np.float32))

    def from_env(self, actions: Any) -> Any:
        """Back to the unit box."""
        return (np.asarray(actions) - self.centre) / self.half


def log_slope(before: torch.Tensor) -> torch.Tensor:
    """log(1 - tanh(x)^2) without cancellation."""
    return 2.0 * (math.log(2.0) - before - functional.softplus(-2.0 * before))
