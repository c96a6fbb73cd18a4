"""Which units say nothing is told of hidden layers alone, whatever their activation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from rlclinic.lab.instruments.activations import Activations, _spectrum  # noqa: E402


def measured(network: Any) -> dict[str, float]:
    states = torch.linspace(-1, 1, 40).reshape(20, 2)
    with torch.no_grad(), Activations(network) as activations:
        network(states)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
    return activations.columns()


def network(activation: Any, *bias: float) -> Any:
    """Four hidden units with these biases; those with a large one say the same of every state."""
    first = torch.nn.Linear(2, 4)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 0.5], [0.5, -1.0], [-1.0, 0.3], [0.2, 0.9]]))
        first.bias.copy_(torch.tensor(bias))
    return torch.nn.Sequential(first, activation, torch.nn.Linear(4, 1), torch.nn.Tanh())


@pytest.mark.parametrize(
    ("activation", "bias", "share"),
    [
        (torch.nn.ReLU(), (0, 0, 0, 0), 0.0),
        (torch.nn.ReLU(), (-9, 0, 0, 0), 0.25),
        (torch.nn.Tanh(), (0, 0, 0, 0), 0.0),
        (torch.nn.Tanh(), (9, -9, 0, 0), 0.5),
    ],
)
def test_a_unit_through_which_no_gradient_passes_is_dormant(activation: Any, bias: tuple[float], share: float) -> None:
    found = measured(network(activation, *bias))
    assert found["train/opt/dead_units"] == share
    assert found["train/opt/effective_rank"] > 1, "the bounded output is no hidden layer"


def test_a_network_without_hidden_activations_has_no_such_units() -> None:
    assert measured(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh())) == {}


@pytest.mark.parametrize("shape", [(5, 9), (9, 5)])
def test_the_spectrum_of_a_layer_is_its_singular_values(shape: tuple[int, int]) -> None:
    layer = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    assert _spectrum(layer) == pytest.approx(np.linalg.svd(layer, compute_uv=False), rel=1e-5)
