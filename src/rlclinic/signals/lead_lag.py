"""Which of two series moved first."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._onset import Onset, onset
from rlclinic.signals._robust import below, median
from rlclinic.signals._scale import bounded
from rlclinic.signals._shapes import Curve, Data
from rlclinic.signals.resample import resample

INTERVAL = 1.96
"""Standard deviations on each side of a 95% interval."""
MANY = 1e6
"""Degrees of freedom at which Student's distribution is the normal one."""


@dataclass(frozen=True, slots=True)
class LeadLag:
    """Two onsets and their order. Without a jump in both series there is no order."""

    n: int
    """Finite logged points of the shorter series."""
    enough: bool
    lag: float = math.nan
    """Steps from the onset of the first to that of the second: positive when the first one leads."""
    probability: float = math.nan
    """That the first one moved first."""


def lead_lag(first: Data, second: Data) -> LeadLag:
    """Compare the onsets of the largest moves."""
    curves = [resample(data) for data in (first, second)]
    n = min(curve.n for curve in curves)
    one, two = map(onset, curves)
    if one is None or two is None:
        return LeadLag(n, enough=False)
    lag = bounded(two.step - one.step)
    doubt = math.hypot(_deviation(one, curves[0]), _deviation(two, curves[1]))
    probability = below(lag / doubt, MANY) if doubt > 0.0 else 0.5 * (1.0 + np.sign(lag))
    return LeadLag(n, enough=True, lag=lag, probability=float(probability))


def _deviation(onset: Onset, curve: Curve) -> float:
    """Standard deviation of an onset: that of the jump, and half the distance between two points of the curve."""
    spacing = median(np.diff(curve.steps))
    return math.hypot(bounded(onset.high_step - onset.low_step) / (2.0 * INTERVAL), spacing / 2.0)
