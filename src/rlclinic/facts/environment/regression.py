"""How much of some numbers others foretell: ridge regression on random Fourier features, tried on episodes left out.

A linear fit misses products and even functions (r = s * a); a kernel does not, and needs no library.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import IntArray, Space

FEATURES = 96
RIDGE = 1e-3
"""Of the number of rows."""
MOST_ROWS = 2500
MOST_CHOICES = 32
SEED = 3


def encoded(space: Space, values: FloatArray) -> FloatArray:
    """Points of a space as numbers for a fit: choices one by one, amounts as they are."""
    if not space.whole:
        return values
    columns = []
    for index in range(space.size):
        low, count = space.low[index], int(space.high[index] - space.low[index] + 1)
        column = values[:, index]
        if 1 < count <= MOST_CHOICES:
            columns.append((column[:, None] - low == np.arange(count)[None, :]).astype(np.float64))
        else:
            columns.append(column[:, None])
    return np.concatenate(columns, axis=1) if columns else values


def even(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """At most as many rows as are fitted, evenly chosen."""
    return rows if len(rows) <= MOST_ROWS else rows[np.linspace(0, len(rows) - 1, MOST_ROWS).astype(int)]


def explained(inputs: FloatArray, targets: FloatArray, groups: IntArray, *, folds: int = 4) -> FloatArray:
    """Share of the variance of each target that the inputs foretell on groups left out; 0 where they foretell none.

    Targets that do not vary have NaN.
    """
    residual, total = _residuals(inputs, targets, groups, folds)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1.0 - residual / total
    return np.where(total > 0, np.clip(share, 0.0, 1.0), np.nan)


def foretold(inputs: FloatArray, targets: FloatArray, later_inputs: FloatArray, later_targets: FloatArray) -> float:
    """Share of the variance of later targets that a fit to the earlier ones foretells, over all targets; may be < 0."""
    basis = Basis(inputs)
    weights = fit(basis(inputs), targets)
    predicted = basis(later_inputs) @ weights
    residual = ((later_targets - predicted) ** 2).mean(axis=0)
    total = later_targets.var(axis=0)
    live = total > 1e-12
    return float(np.mean(1.0 - residual[live] / total[live])) if live.any() else float("nan")


def _residuals(inputs: FloatArray, targets: FloatArray, groups: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
    names, places = np.unique(groups, return_inverse=True)
    # Folds are of whole groups; a single long episode is cut into stretches.
    folds = places % count if len(names) >= 8 else (np.arange(len(groups)) * 8 // max(len(groups), 1)) % count
    basis = Basis(inputs)
    features = basis(inputs)
    residual, total = np.zeros(targets.shape[1]), np.zeros(targets.shape[1])
    for fold in range(count):
        out = folds == fold
        if not out.any() or out.all():
            continue
        weights = fit(features[~out], targets[~out])
        residual += ((targets[out] - features[out] @ weights) ** 2).sum(axis=0)
        total += ((targets[out] - targets[~out].mean(axis=0)) ** 2).sum(axis=0)
    return residual, total


class Basis:
    """Constant, linear and random Fourier features of standardised inputs."""

    def __init__(self, inputs: FloatArray) -> None:
        self._mean, std = inputs.mean(axis=0), inputs.std(axis=0)
        self._live = std > 1e-9
        self._std = np.where(self._live, std, 1.0)
        size = int(self._live.sum())
        rng = np.random.default_rng(SEED)
        # Two bandwidths around the typical distance of standardised points.
        widths = np.where(np.arange(FEATURES) % 2 == 0, 1.0, 2.5) * np.sqrt(max(size, 1))
        self._waves = rng.normal(size=(size, FEATURES)) / widths
        self._phases = rng.uniform(0.0, 2.0 * np.pi, FEATURES)

    def __call__(self, inputs: FloatArray) -> FloatArray:
        scaled = np.clip((inputs - self._mean)[:, self._live] / self._std[self._live], -8.0, 8.0)
        waves = np.cos(scaled @ self._waves + self._phases)
        return np.concatenate([np.ones((len(inputs), 1)), scaled, waves], axis=1)


def fit(features: FloatArray, targets: FloatArray) -> FloatArray:
    """Weights of a ridge regression."""
    gram = features.T @ features
    gram[np.diag_indices_from(gram)] += RIDGE * len(features) / 100.0
    found = np.linalg.solve(gram, features.T @ targets)
    return found.astype(np.float64)
