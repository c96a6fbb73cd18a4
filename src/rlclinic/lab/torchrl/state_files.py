"""The state of training as files: tensors that load with weights_only, and npz without pickles."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from rlclinic.lab.checkpoints import loading, open_arrays
from rlclinic.lab.errors import TrainingError
from rlclinic.lab.torchrl.optimiser import Optimiser

MODEL, OPTIMISER, NUMBERS = "model.pt", "optimizer.pt", "numbers.npz"

# The state of torch's random generator, among the numbers.
RANDOM = "torch_random"

Arrays = dict[str, NDArray[Any]]


def save_state(
    path: Path, modules: Mapping[str, torch.nn.Module], optimisers: Mapping[str, Optimiser], numbers: Arrays
) -> None:
    """Write weights, optimisers, numbers and the state of the random generator into a folder."""
    torch.save({name: module.state_dict() for name, module in modules.items()}, path / MODEL)
    torch.save({name: optimiser.adam.state_dict() for name, optimiser in optimisers.items()}, path / OPTIMISER)
    save_arrays(path / NUMBERS, {**numbers, RANDOM: torch.get_rng_state().numpy()})


def load_state(path: Path, modules: Mapping[str, torch.nn.Module], optimisers: Mapping[str, Optimiser]) -> Arrays:
    """Put the state of a folder back; the numbers that were saved with it."""
    with loading(path):
        weights = torch.load(path / MODEL, weights_only=True)
        for name, module in modules.items():
            module.load_state_dict(weights[name])
        moments = torch.load(path / OPTIMISER, weights_only=True)
        for name, optimiser in optimisers.items():
            optimiser.adam.load_state_dict(moments[name])
        numbers = load_arrays(path / NUMBERS)
        torch.set_rng_state(torch.from_numpy(numbers.pop(RANDOM)))
    return numbers


def save_arrays(path: Path, arrays: Arrays) -> None:
    """Arrays as an npz."""
    np.savez(path, allow_pickle=False, **arrays)


def load_arrays(path: Path) -> Arrays:
    """The arrays of an npz."""
    with open_arrays(path) as file:
        return dict(file)


def check_finite(modules: Mapping[str, torch.nn.Module], path: Path) -> None:
    """TrainingError where a weight is NaN or infinite: nothing can be learned from there."""
    for name, module in modules.items():
        if not all(bool(torch.isfinite(weight).all()) for weight in module.parameters()):
            hint = "lower the learning rate or max_grad_norm, and check the scale of rewards and observations"
            raise TrainingError(f"the weights of the {name} became NaN or infinite", path=str(path), hint=hint)


def seed_everything(seed: int) -> None:
    """Same seed, same run."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
