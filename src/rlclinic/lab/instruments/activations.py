"""Dormant units and effective rank of a network, from the activations of forward passes that happen anyway.

Dormant: Sokar et al. 2023, "The Dormant Neuron Phenomenon". Effective rank: Kumar et al. 2021, "Implicit
Under-Parameterization". Works on any torch module from outside and loads no library itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Mean activation of a unit, over that of its layer, below which it is dormant.
DORMANT = 0.025
# Share of the spectrum that the effective rank accounts for.
COVERED = 0.99
# Modules whose output is an activation.
_NAMES = frozenset({"ReLU", "LeakyReLU", "ELU", "GELU", "SiLU", "Mish", "Softplus", "CELU", "SELU"})


class Activations:
    """Listens to the activation modules of a network while the block runs."""

    def __init__(self, network: Any) -> None:
        self._modules = [module for module in network.modules() if type(module).__name__ in _NAMES]
        self._hooks: list[Any] = []
        self._layers: dict[int, NDArray[Any]] = {}

    def __enter__(self) -> Activations:
        self._hooks = [module.register_forward_hook(self._keep) for module in self._modules]
        return self

    def __exit__(self, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()

    def columns(self) -> dict[str, float]:
        """Share of dormant units over all layers, and the effective rank of the last layer that was seen."""
        if not self._layers:
            return {}
        sizes = [np.abs(layer).mean(axis=0) for layer in self._layers.values()]
        dormant = np.concatenate([size <= DORMANT * size.mean() for size in sizes])
        spectrum = np.linalg.svd(list(self._layers.values())[-1], compute_uv=False)
        covered = np.cumsum(spectrum) / max(float(spectrum.sum()), 1e-30)
        return {
            "train/opt/dead_units": float(dormant.mean()),
            "train/opt/effective_rank": float(np.searchsorted(covered, COVERED) + 1),
        }

    def _keep(self, module: Any, _: Any, output: Any) -> None:
        self._layers[id(module)] = output.detach().reshape(output.shape[0], -1).cpu().numpy()
