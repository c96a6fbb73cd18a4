"""Tiny networks and their optimiser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional

UNCLIPPED = 1e6
"""A gradient-norm clip of at least this never binds on the tiny networks, so it is not computed."""


class Layers(nn.Module):
    """Linear layers with tanh between them; `last_scale` shrinks the first outputs of a policy."""

    def __init__(self, inputs: int, hidden: Sequence[int], outputs: int, last_scale: float = 1.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*sizes) for sizes in pairwise([inputs, *hidden, outputs]))
        with torch.no_grad():
            self.layers[-1].weight.mul_(last_scale)
            self.layers[-1].bias.zero_()

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Called without the hooks of each layer: on networks this small they cost more than the arithmetic."""
        *inner, last = self.layers
        for layer in inner:
            inputs = torch.tanh(functional.linear(inputs, layer.weight, layer.bias))
        return functional.linear(inputs, last.weight, last.bias)


class Twins(nn.Module):
    """Two value networks of the same shape, evaluated at once: (batch, inputs) -> (2, batch)."""

    def __init__(self, inputs: int, hidden: Sequence[int]) -> None:
        super().__init__()
        sizes = [inputs, *hidden, 1]
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for before, after in pairwise(sizes):
            bound = before**-0.5
            self.weights.append(nn.Parameter(torch.empty(2, before, after).uniform_(-bound, bound)))
            self.biases.append(nn.Parameter(torch.empty(2, 1, after).uniform_(-bound, bound)))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The values of both."""
        flow = inputs.expand(2, *inputs.shape)
        for place, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            flow = torch.baddbmm(bias, flow, weight)
            if place + 1 < len(self.weights):
                flow = torch.tanh(flow)
        return flow.squeeze(-1)


class Stepper:
    """Adam with the usual clip of the gradient norm."""

    def __init__(self, parameters: Iterable[Any], learning_rate: float, max_grad_norm: float) -> None:
        self.parameters = list(parameters)
        self.max_grad_norm = max_grad_norm
        self.adam = torch.optim.Adam(self.parameters, lr=learning_rate, fused=True)

    def descend(self, loss: torch.Tensor) -> None:
        """One step down the loss."""
        self.adam.zero_grad()
        loss.backward()
        if self.max_grad_norm < UNCLIPPED:
            nn.utils.clip_grad_norm_(self.parameters, self.max_grad_norm)
        self.adam.step()


def gradient_norms(loss: torch.Tensor, parts: Mapping[str, Iterable[Any]], trained: Iterable[Any]) -> dict[str, float]:
    """The largest gradient of a loss on each part, counting only parameters that an optimiser steps."""
    stepped = {id(parameter) for parameter in trained}
    norms = {}
    for name, parameters in parts.items():
        wanted = [parameter for parameter in parameters if id(parameter) in stepped and parameter.requires_grad]
        if not wanted or not loss.requires_grad:
            norms[name] = 0.0
            continue
        found = torch.autograd.grad(loss, wanted, retain_graph=True, allow_unused=True)
        norms[name] = max((float(gradient.norm()) for gradient in found if gradient is not None), default=0.0)
    return norms


def tensor(array: Any) -> torch.Tensor:
    """Float32 on the CPU."""
    return torch.as_tensor(array, dtype=torch.float32)
