"""Gradient norms of each part of a network, before clipping, on a sample of the updates.

Works on any torch optimiser from outside: hooks on the parameters are set for one backward pass at a time, so an
update that is not sampled pays for one function call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Updates between two samples. One sample costs about a tenth of a small network's update.
EVERY = 64
# Updates between the samples of two rows: where a row comes after every few updates, not each has a norm.
FEWEST = 16


class GradientNorms:
    """Samples the gradient norms of one optimiser's parameters."""

    def __init__(self, optimizer: Any, parts: Mapping[str, Iterable[Any]], every: int = EVERY) -> None:
        self._parts = {name: list(parameters) for name, parameters in parts.items()}
        self._every = every
        self._since = 0
        self._norms: dict[int, Any] = {}
        self._hooks: list[Any] = []
        self._samples: dict[str, list[float]] = {name: [] for name in self._parts}
        self._step_hook = optimizer.register_step_pre_hook(self._before_step)
        self._arm()

    def take(self) -> dict[str, float]:
        """Mean norm of each part since the last call; the next update is sampled, unless one just was."""
        found = {name: sum(values) / len(values) for name, values in self._samples.items() if values}
        for values in self._samples.values():
            values.clear()
        if self._since >= FEWEST:
            self._arm()
        return found

    def close(self) -> None:
        """Remove every hook."""
        self._step_hook.remove()
        self._disarm()

    def _arm(self) -> None:
        if self._hooks:
            return
        self._norms.clear()
        for parameters in self._parts.values():
            self._hooks += [parameter.register_post_accumulate_grad_hook(self._keep) for parameter in parameters]

    def _disarm(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def _keep(self, parameter: Any) -> None:
        # A later backward pass before the step (an actor's loss through its critic) is overwritten by the one that
        # the step uses.
        self._norms[id(parameter)] = parameter.grad.norm()

    def _before_step(self, *_: object) -> None:
        if not self._hooks:
            self._since += 1
            if self._since >= self._every:
                self._arm()
            return
        self._since = 1
        for name, parameters in self._parts.items():
            squares = [float(self._norms[id(p)]) ** 2 for p in parameters if id(p) in self._norms]
            if squares:
                self._samples[name].append(sum(squares) ** 0.5)
        self._disarm()
