"""Distances between the old and the new policy in one state: squared MMD and KL, in closed form.

All take a batch of states along the first axes and give one number per state; all are differentiable, and the squared
MMD is exact rather than sampled, so that it is 0 for equal policies and keeps its gradient near there.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import torch
from scipy.special import gammaincinv

Tensor: TypeAlias = torch.Tensor

# How the bandwidth of the Gaussian kernel may follow the spread of the old policy.
BANDWIDTH_RULES = ("median", "std")


def categorical_mmd(new: Tensor, old: Tensor, kernel: Tensor | None = None) -> Tensor:
    """(p - q)^T R (p - q) of probabilities over the last axis; without a kernel R = I, the squared L2 distance."""
    difference = new - old
    weighted = difference if kernel is None else difference @ kernel
    return (weighted * difference).sum(-1)


def categorical_kl(new_logits: Tensor, old_logits: Tensor) -> Tensor:
    """KL(new || old) of categorical policies."""
    new_log, old_log = new_logits.log_softmax(-1), old_logits.log_softmax(-1)
    return (new_log.exp() * (new_log - old_log)).sum(-1)


def gaussian_mmd(
    new_mean: Tensor, new_std: Tensor, old_mean: Tensor, old_std: Tensor, bandwidth: Tensor | float
) -> Tensor:
    """Squared MMD of diagonal Gaussians under the kernel exp(-|a - b|^2 / (2 h^2)) on the joint action."""
    width = torch.as_tensor(bandwidth, dtype=new_mean.dtype, device=new_mean.device)
    same_new = _expected_kernel(torch.zeros_like(new_mean), 2 * new_std.square(), width)
    same_old = _expected_kernel(torch.zeros_like(old_mean), 2 * old_std.square(), width)
    across = _expected_kernel(new_mean - old_mean, new_std.square() + old_std.square(), width)
    return same_new + same_old - 2 * across


def gaussian_kl(new_mean: Tensor, new_std: Tensor, old_mean: Tensor, old_std: Tensor) -> Tensor:
    """KL(new || old) of diagonal Gaussians. A squashing that both share changes nothing."""
    shift = (new_mean - old_mean).square()
    each = (old_std / new_std).log() + (new_std.square() + shift) / (2 * old_std.square()) - 0.5
    return each.sum(-1)


def kernel_bandwidth(rule: float | str, old_std: Tensor) -> Tensor:
    """The bandwidth in each state: a fixed number, the mean spread of the old policy, or the median heuristic.

    The median distance of two actions of a Gaussian policy is known: its square is 2 sigma^2 times a chi-squared
    variable with as many degrees of freedom as there are action dimensions (0.954 sigma in one dimension),
    whose median is twice the inverse of the regularised gamma function.
    """
    if not isinstance(rule, str):
        return torch.full(old_std.shape[:-1], float(rule), dtype=old_std.dtype, device=old_std.device)
    if rule == "std":
        return old_std.mean(-1)
    if rule == "median":
        return old_std.square().mean(-1).sqrt() * math.sqrt(4 * float(gammaincinv(old_std.shape[-1] / 2, 0.5)))
    raise ValueError(f"kernel bandwidth {rule!r}: neither a number nor one of {', '.join(BANDWIDTH_RULES)}")


def _expected_kernel(shift: Tensor, variance: Tensor, bandwidth: Tensor) -> Tensor:
    """E k(x, y) where x - y is Gaussian with this mean and variance in each dimension."""
    square = bandwidth.square().unsqueeze(-1)
    total = square + variance
    each = 0.5 * (square.log() - total.log()) - shift.square() / (2 * total)
    return each.sum(-1).exp()
