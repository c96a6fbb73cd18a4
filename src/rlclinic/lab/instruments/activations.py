"""Dormant units and effective rank of a network, from the activations of forward passes that happen anyway.

Dormant: Sokar et al. 2023, "The Dormant Neuron Phenomenon"; also a tanh that is at its bound on every state, through
which no gradient passes either. Effective rank: Kumar et al. 2021, "Implicit Under-Parameterization". Works on any
torch module from outside and loads no library itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Mean activation of a unit, over that of its layer, below which it is dormant; of a tanh its mean slope as well.
DORMANT = 0.025
# Share of the spectrum that the effective rank accounts for.
COVERED = 0.99
# Modules whose output is an activation.
_NAMES = frozenset({"ReLU", "LeakyReLU", "ELU", "GELU", "SiLU", "Mish", "Softplus", "CELU", "SELU", "Tanh"})


class Activations:
    """Listens to the hidden layers of a network while the block runs: activations that another module takes."""

    def __init__(self, network: Any) -> None:
        self._leaves = [module for module in network.modules() if not any(True for _ in module.children())]
        self._hooks: list[Any] = []
        # What was given and nobody has taken so far, by its place in memory: a view of it is the same.
        self._given: dict[int, tuple[Any, Any]] = {}
        self._layers: dict[Any, NDArray[Any]] = {}

    def __enter__(self) -> Activations:
        for module in self._leaves:
            self._hooks.append(module.register_forward_pre_hook(self._take))
            if type(module).__name__ in _NAMES:
                self._hooks.append(module.register_forward_hook(self._give))
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._given.clear()

    def columns(self) -> dict[str, float]:
        """Share of dormant units over all layers, and the effective rank of the last layer that was seen."""
        if not self._layers:
            return {}
        dormant = np.concatenate([_dormant(module, layer) for module, layer in self._layers.items()])
        spectrum = _spectrum(list(self._layers.values())[-1])
        covered = np.cumsum(spectrum) / max(float(spectrum.sum()), 1e-30)
        return {
            "train/opt/dead_units": float(dormant.mean()),
            "train/opt/effective_rank": float(np.searchsorted(covered, COVERED) + 1),
        }

    def _give(self, module: Any, _: Any, output: Any) -> None:
        self._given[output.data_ptr()] = module, output.detach()

    def _take(self, _: Any, inputs: Any) -> None:
        place = inputs[0].data_ptr() if inputs and hasattr(inputs[0], "data_ptr") else None
        if place in self._given:
            module, output = self._given.pop(place)
            self._layers[module] = output.reshape(output.shape[0], -1).cpu().numpy()


def _spectrum(layer: NDArray[Any]) -> NDArray[Any]:
    """Singular values, the greatest first, at a third of the work: roots of the eigenvalues of the Gram matrix."""
    wide = layer.astype(np.float64) if layer.shape[0] <= layer.shape[1] else layer.T.astype(np.float64)
    found: NDArray[Any] = np.sqrt(np.maximum(np.linalg.eigvalsh(wide @ wide.T), 0.0))[::-1]
    return found


def _dormant(module: Any, layer: NDArray[Any]) -> NDArray[Any]:
    size = np.abs(layer).mean(axis=0)
    dormant: NDArray[Any] = size <= DORMANT * size.mean()
    if type(module).__name__ == "Tanh":
        dormant |= (1.0 - layer**2).mean(axis=0) <= DORMANT
    return dormant
