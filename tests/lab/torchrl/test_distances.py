"""Closed-form MMD and KL against values computed by quadrature."""

from __future__ import annotations

import math

import pytest
import torch

from rlclinic.lab.torchrl.distances import (
    categorical_kl,
    categorical_mmd,
    gaussian_kl,
    gaussian_mmd,
    kernel_bandwidth,
)

Gaussian = tuple[list[float], list[float]]


def rows(*values: float) -> torch.Tensor:
    return torch.tensor([values], dtype=torch.float64)


def mmd(new: Gaussian, old: Gaussian, bandwidth: float) -> float:
    return gaussian_mmd(rows(*new[0]), rows(*new[1]), rows(*old[0]), rows(*old[1]), bandwidth).item()


def kl(new: Gaussian, old: Gaussian) -> float:
    return gaussian_kl(rows(*new[0]), rows(*new[1]), rows(*old[0]), rows(*old[1])).item()


@pytest.mark.parametrize(
    ("shift", "wide", "narrow", "divergence"),
    [
        (0.05, 0.001360, 0.001923, 0.005),
        (0.1, 0.005434, 0.007672, 0.02),
        (0.2, 0.021629, 0.030385, 0.08),
        (0.5, 0.130567, 0.177268, 0.5),
        (1.0, 0.462902, 0.561858, 2.0),
    ],
)
def test_one_dimension_has_the_known_values(shift: float, wide: float, narrow: float, divergence: float) -> None:
    new, old = ([shift], [0.5]), ([0.0], [0.5])
    assert mmd(new, old, 1.0) == pytest.approx(wide, abs=5e-7)
    assert mmd(new, old, 0.5) == pytest.approx(narrow, abs=5e-7)
    assert kl(new, old) == pytest.approx(divergence, abs=1e-12)


def test_two_dimensions_have_the_known_values() -> None:
    new, old = ([0.2, -0.1], [0.4, 0.6]), ([0.0, 0.0], [0.5, 0.5])
    assert mmd(new, old, 1.0) == pytest.approx(0.0256679, abs=5e-8)
    assert mmd(new, old, 0.5) == pytest.approx(0.0294251, abs=5e-8)
    assert kl(new, old) == pytest.approx(0.1808220, abs=5e-8)
    assert kl(old, new) == pytest.approx(0.2265391, abs=5e-8)


def test_mmd_of_equal_policies_is_zero_and_mmd_is_symmetric() -> None:
    one, other = ([0.3, -0.2], [0.4, 0.9]), ([-0.1, 0.5], [0.7, 0.2])
    assert mmd(one, one, 0.7) == pytest.approx(0.0, abs=1e-15)
    assert mmd(one, other, 0.7) == pytest.approx(mmd(other, one, 0.7), abs=1e-15)
    p, q = rows(0.2, 0.3, 0.5), rows(0.6, 0.3, 0.1)
    kernel = torch.tensor([[1.0, 0.5, 0.1], [0.5, 1.0, 0.5], [0.1, 0.5, 1.0]], dtype=torch.float64)
    assert categorical_mmd(p, p, kernel).item() == 0.0
    assert categorical_mmd(p, q, kernel).item() == pytest.approx(categorical_mmd(q, p, kernel).item(), abs=1e-15)


def test_closed_form_agrees_with_samples() -> None:
    generator = torch.Generator().manual_seed(0)
    x = 0.2 + 0.4 * torch.randn(400_000, generator=generator, dtype=torch.float64)
    y = 0.5 * torch.randn(400_000, generator=generator, dtype=torch.float64)

    def kernel(a: torch.Tensor, b: torch.Tensor) -> float:
        return (-(a - b).square() / 2).exp().mean().item()

    sampled = kernel(x[::2], x[1::2]) + kernel(y[::2], y[1::2]) - 2 * kernel(x, y)
    assert mmd(([0.2], [0.4]), ([0.0], [0.5]), 1.0) == pytest.approx(sampled, abs=2e-3)


def test_mmd_keeps_its_gradient_next_to_equality() -> None:
    mean = torch.tensor([[0.01]], requires_grad=True)
    std = torch.full((1, 1), 0.5)
    gaussian_mmd(mean, std, torch.zeros(1, 1), std, 1.0).sum().backward()
    assert mean.grad is not None
    assert mean.grad.item() > 0.005


def test_discrete_mmd_without_a_kernel_is_the_squared_distance() -> None:
    p, q = rows(0.7, 0.3), rows(0.5, 0.5)
    assert categorical_mmd(p, q).item() == pytest.approx(0.08)
    kernel = torch.tensor([[1.0, 0.5], [0.5, 1.0]], dtype=torch.float64)
    assert categorical_mmd(p, q, kernel).item() == pytest.approx(0.04)


def test_discrete_kl_is_that_of_new_against_old() -> None:
    p, q = rows(0.9, 0.1), rows(0.5, 0.5)
    expected = 0.9 * math.log(1.8) + 0.1 * math.log(0.2)
    assert categorical_kl(p.log() + 3.0, q.log()).item() == pytest.approx(expected)


def test_bandwidth_follows_the_spread_of_the_old_policy() -> None:
    assert kernel_bandwidth("median", rows(0.5)).item() == pytest.approx(0.954 * 0.5, abs=2e-4)
    many = torch.full((1, 50), 0.5, dtype=torch.float64)
    assert kernel_bandwidth("median", many).item() == pytest.approx(0.5 * math.sqrt(2 * 50), rel=0.01)
    assert kernel_bandwidth("std", rows(0.2, 0.4)).item() == pytest.approx(0.3)
    assert kernel_bandwidth(0.7, rows(0.2, 0.4)).item() == pytest.approx(0.7)
    with pytest.raises(ValueError, match="mean"):
        kernel_bandwidth("mean", rows(0.5))
