"""Closed forms and quadratures of maximum-entropy policies."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

GRID = np.linspace(-9.0, 9.0, 36_001)
"""Standard normal quadrature: spacing 5e-4, tails below 1e-18."""


def sigmoid(value: float) -> float:
    """1 / (1 + exp(-value))."""
    return 1.0 / (1.0 + math.exp(-value))


def gaussian_entropy(deviation: float) -> float:
    """Entropy in nats of a Gaussian."""
    return 0.5 * math.log(2 * math.pi * math.e) + math.log(deviation)


def tanh_entropy(deviation: float) -> float:
    """Entropy of tanh of a centred Gaussian: that of the Gaussian plus the mean log derivative of tanh."""
    return gaussian_entropy(deviation) + _mean(deviation, lambda u: 2 * (math.log(2) - u - np.logaddexp(0, -2 * u)))


@cache
def largest_tanh_entropy() -> tuple[float, float]:
    """The largest entropy of a centred tanh-Gaussian, and the deviation that has it."""
    low, high = 0.3, 2.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if tanh_entropy(left) > tanh_entropy(right) else (left, high)
    deviation = (low + high) / 2
    return tanh_entropy(deviation), deviation


def bandit_temperature(target: float) -> tuple[float, float]:
    """Two arms that pay 1 and 0: the probability whose entropy is the target, and the alpha that leads to it."""
    low, high = 0.5, 1.0 - 1e-12
    for _ in range(200):
        middle = (low + high) / 2
        entropy = -middle * math.log(middle) - (1 - middle) * math.log(1 - middle)
        low, high = (middle, high) if entropy > target else (low, middle)
    return low, 1.0 / math.log(low / (1 - low))


@cache
def parabola_temperature(target: float) -> float:
    """Reward -a^2 with a tanh-Gaussian of the target entropy: the alpha at which its deviation is the best one."""
    _, widest = largest_tanh_entropy()
    low, high = 1e-4, widest
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tanh_entropy(middle) < target else (low, middle)
    step = 1e-4 * low
    cost = _mean(low + step, lambda u: np.tanh(u) ** 2) - _mean(low - step, lambda u: np.tanh(u) ** 2)
    gain = tanh_entropy(low + step) - tanh_entropy(low - step)
    return cost / gain


def _mean(deviation: float, function: object) -> float:
    weights = np.exp(-0.5 * GRID**2)
    values = function(deviation * GRID)  # type: ignore[operator]
    return float((weights * values).sum() / weights.sum())
