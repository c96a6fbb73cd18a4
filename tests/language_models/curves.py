"""Curves of language-model runs: a healthy GRPO run, and what each fault does to it.

Drawn with the noise of real batches: scores are shares of 512 responses, gradient norms and KL scatter by factors.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Curve = np.ndarray
UPDATES = 120
RESPONSES = 512
GROUP = 8


def path(*levels: float, at: tuple[float, ...] | None = None, updates: int = UPDATES) -> Curve:
    """A line through levels, evenly spaced unless their places (0 to 1) are told."""
    places = at or tuple(np.linspace(0.0, 1.0, len(levels)))
    return np.interp(np.linspace(0.0, 1.0, updates), places, levels)


def geometric(*levels: float, at: tuple[float, ...] | None = None, updates: int = UPDATES) -> Curve:
    """The same in factors."""
    return np.exp(path(*np.log(levels), at=at, updates=updates))


class Drawn:
    """Noise of one run."""

    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed)

    def share(self, levels: Curve, of: int = RESPONSES) -> Curve:
        return self._draw.binomial(of, np.clip(levels, 0.0, 1.0)) / of

    def by_factor(self, levels: Curve, spread: float = 0.15) -> Curve:
        return levels * np.exp(spread * self._draw.standard_normal(levels.size))

    def about(self, levels: Curve, spread: float) -> Curve:
        return levels + spread * self._draw.standard_normal(levels.size)


def healthy(draw: Drawn, score: Curve | None = None, updates: int = UPDATES) -> dict[str, Curve]:
    """A GRPO run whose score follows `score`, by default a rise from 0.25 to 0.62."""
    level = path(0.25, 0.45, 0.55, 0.6, 0.62, updates=updates) if score is None else score
    updates = level.size
    scores = draw.share(level)
    tied = np.clip(scores**GROUP + (1 - scores) ** GROUP + 0.15, 0.0, 1.0)
    ones = np.ones(updates)
    return {
        "score": scores,
        "score_max": ones,
        "score_min": 0.0 * ones,
        "shaped": scores,
        "advantage_max": 2.475 * ones,
        "advantage_min": -2.475 * ones,
        "advantage_mean": draw.about(0.0 * ones, 0.01),
        "spread": 0.5 * (1 - tied),
        "tied": draw.share(tied, 64),
        "answer": scores,
        "length": draw.by_factor(path(310.0, 300.0, updates=updates), 0.03),
        "length_max": 1024.0 * ones,
        "cut": draw.share(0.015 * ones),
        "kl": draw.by_factor(geometric(4e-4, 0.01, 0.03, updates=updates), 0.2),
        "entropy": draw.by_factor(geometric(0.45, 0.2, updates=updates), 0.05),
        "loss": draw.about(0.0 * ones, 0.01),
        "clipped": draw.by_factor(0.002 * ones, 0.3),
        "update_kl": draw.about(2e-4 * ones, 2e-4),
        "gradient": draw.by_factor(0.25 * ones, 0.25),
        "rate": 1e-6 * ones,
        "validation": draw.share(level - 0.03, 1319),
        "masked": draw.about(0.7 * ones, 0.01),
        "turns": draw.about(2.2 * ones, 0.05),
        "searches": draw.about(1.2 * ones, 0.03),
        "finished": draw.share(0.95 * ones),
        "valid": draw.share(0.97 * ones),
        "step_time": draw.by_factor(40.0 * ones, 0.05),
    }


Change = Callable[[dict[str, Curve], Drawn], None]
