"""How noisy a series is around its own smooth course, and how many independent points that leaves."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._scale import scaled
from rlclinic.signals._shapes import Curve, Data
from rlclinic.signals._wander import LEAST, Wander, point_noise, wander
from rlclinic.signals.resample import resample


@dataclass(frozen=True, slots=True)
class Noise:
    """The scatter of the logged points. It does not depend on how densely the series was logged."""

    n: int
    enough: bool
    scale: float = math.nan
    """Standard deviation of one logged point around the smooth course, by robust means."""
    low: float = math.nan
    """Lower end of the 95% interval of the scale."""
    high: float = math.nan
    curve_scale: float = math.nan
    """The same for one point of the resampled curve."""
    autocorrelation: float = math.nan
    """Correlation of neighbouring points of the resampled curve."""
    effective_n: float = math.nan
    """Independent points whose mean is as certain as that of the curve."""


def noise(data: Data) -> Noise:
    """Measure the scatter of a series; rounded values scatter at least as much as their rounding."""
    return _of_curve(resample(data))


@lru_cache(maxsize=128)
def _of_curve(curve: Curve) -> Noise:
    if len(curve) < LEAST:
        return Noise(curve.n, enough=False)
    frame = scaled(curve)
    model = wander(curve)
    effective = _effective_n(model)
    scale = point_noise(curve, model.deviation)
    doubt = 1.96 / math.sqrt(2.0 * max(effective, 2.0))
    return Noise(
        n=curve.n,
        enough=True,
        scale=frame.difference(scale),
        low=frame.difference(scale * math.exp(-doubt)),
        high=frame.difference(scale * math.exp(doubt)),
        curve_scale=frame.difference(model.deviation),
        autocorrelation=model.phi,
        effective_n=effective,
    )


def _effective_n(model: Wander) -> float:
    mean = model.error(np.full(model.n, 1.0 / model.n)).deviation
    if not model.levels or mean <= 0.0:
        return float(model.n)
    return min(max((model.deviation / mean) ** 2, 1.0), float(model.n))
