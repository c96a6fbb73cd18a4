"""Adam with a learning-rate schedule, a gradient-norm clip, and the norms of each part before it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from rlclinic.lab.torchrl.distances import Tensor
from rlclinic.lab.torchrl.options import Options

NORM = "train/opt/grads/norm"
# The part that is no network: SAC's temperature.
TEMPERATURE = "alpha"


class Optimiser:
    """One Adam over named parts of a network (`actor`, `critic`)."""

    def __init__(
        self, parts: Mapping[str, Sequence[torch.nn.Parameter]], options: Options, rate: str = "learning_rate"
    ) -> None:
        self.parts = {name: list(parameters) for name, parameters in parts.items()}
        self._all = [parameter for parameters in self.parts.values() for parameter in parameters]
        own = options.optional(rate)
        self._first = options.number("learning_rate") if own is None else own
        self._last = (
            options.number("learning_rate_final") if options.word("learning_rate_schedule") == "linear" else None
        )
        self._limit = options.optional("max_grad_norm")
        # Fused: one call per step instead of one per tensor, which is what small networks spend their time on.
        self.adam = torch.optim.Adam(self._all, lr=self._first, eps=options.number("adam_epsilon"), fused=True)
        self._norms: dict[str, list[float]] = {}

    @property
    def learning_rate(self) -> float:
        """The rate in force."""
        return float(self.adam.param_groups[0]["lr"])

    def at(self, progress: float) -> None:
        """Set the learning rate for a share of the budget."""
        if self._last is not None:
            left = max(1.0 - progress, 0.0)
            self.adam.param_groups[0]["lr"] = self._last + (self._first - self._last) * left

    def step(self, loss: Tensor) -> None:
        """One gradient step."""
        self.adam.zero_grad()
        loss.backward()
        total = 0.0
        for name, parameters in self.parts.items():
            gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
            norm = float(get_total_norm(gradients)) if gradients else 0.0
            self._norms.setdefault(name, []).append(norm)
            total += norm**2
        if self._limit is not None:
            clip_grads_with_norm_(self._all, self._limit, torch.tensor(math.sqrt(total)))
        self.adam.step()

    def take_norms(self) -> dict[str, float]:
        """Mean gradient norm of each part since the last call."""
        means = {name: sum(norms) / len(norms) for name, norms in self._norms.items()}
        self._norms = {}
        return means


def gradient_columns(optimisers: Iterable[Optimiser]) -> dict[str, float]:
    """Gradient norms since the last call: of each part, and of all networks together."""
    norms = {name: norm for optimiser in optimisers for name, norm in optimiser.take_norms().items()}
    columns = {f"{NORM}/{name}": norm for name, norm in norms.items()}
    return {**columns, f"{NORM}/all": math.hypot(*(norm for name, norm in norms.items() if name != TEMPERATURE))}
