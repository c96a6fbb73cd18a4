"""The gradient noise scale: the batch size at which a step is half as good as one without noise.

McCandlish et al. 2018, arXiv 1812.06162, appendix A.1: two batch sizes of one loss at the same parameters give unbiased
estimates of the squared gradient and of its variance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.lazy_dataclass import dataclass

Floats = NDArray[np.float64]

FEWEST_DRAWS = 50
"""Draws below which the interval means little."""
RESAMPLES = 1000
INTERVAL = (2.5, 97.5)


@dataclass(frozen=True, slots=True)
class NoiseScale:
    """A noise scale in samples, with its 95% interval; None where the gradient does not stand out from its noise."""

    value: float | None
    low: float
    high: float
    draws: int

    @property
    def reading(self) -> str:
        """The result in one sentence."""
        if self.value is None:
            return "the gradient cannot be told from its noise with these batches: larger ones are needed"
        few = "" if self.draws >= FEWEST_DRAWS else f"; {self.draws} draws are few"
        return f"about {self.value:.3g} samples ({self.low:.3g} to {self.high:.3g}){few}"


def _ratio(noise: Floats | float, signal: Floats | float) -> Floats:
    noise, signal = np.maximum(np.asarray(noise), 0.0), np.asarray(signal)
    return np.where(signal > 0.0, noise / np.where(signal > 0.0, signal, 1.0), math.inf)


def noise_scale_of_groups(products: Floats, seed: int = 0) -> NoiseScale:
    """The scale in groups, such as whole episodes, from the inner products of their gradients.

    A group is the small batch and all of them the large one, in every way there is. The interval is from a jackknife
    over groups: resampled groups would repeat, and a gradient agrees with itself.
    """
    count = len(products)
    if products.shape != (count, count) or count < 3:
        raise ValueError("inner products of at least three groups are needed")
    own, rows, total = np.diag(products), products.sum(axis=1), float(products.sum())

    def estimates(trace: Floats, everything: Floats, size: int) -> tuple[Floats, Floats]:
        signal = (everything - trace) / (size * (size - 1))
        return trace / size - signal, signal

    noise, signal = estimates(np.array(own.sum()), np.array(total), count)
    without = np.stack(estimates(own.sum() - own, total - 2.0 * rows + own, count - 1))
    covariance = np.cov(without) * (count - 1) ** 2 / count
    drawn = np.random.default_rng(seed).multivariate_normal([float(noise), float(signal)], covariance, RESAMPLES)
    value = float(_ratio(float(noise), float(signal)))
    low, high = np.percentile(_ratio(drawn[:, 0], drawn[:, 1]), INTERVAL, method="nearest")
    return NoiseScale(value if math.isfinite(value) else None, float(low), float(high), count)
