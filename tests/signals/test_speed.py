"""All signals of a large run take well under a second."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rlclinic.model.series import Series
from rlclinic.signals.resample import resample

from .makers import SIGNALS, correlated, made, measured, sigmoid, signal, white

POINTS = 100_000
SERIES = 30
LIMIT = 1.2
"""CPU seconds; 0.6 on an idle core, and test machines are not idle."""
OF_POINTS = ("constants", "distribution")
"""Signals that look at every point; the others share one curve."""


@pytest.mark.slow
def test_thirty_metrics_of_a_hundred_thousand_points_are_measured_in_time() -> None:
    shapes = [sigmoid(POINTS), np.zeros(POINTS), np.linspace(1.0, 0.0, POINTS), np.repeat([0.0, 1.0], POINTS // 2)]
    runs = [made(shapes[seed % 4] + 0.3 * white(POINTS, seed)) for seed in range(SERIES)]
    _measure_all([made(correlated(500, 0.5, seed=1)[0])])
    best = min(_measure_all([made(run.values, run.steps) for run in runs]) for _ in range(3))
    assert best < LIMIT


def _measure_all(runs: list[Series]) -> float:
    start = time.thread_time()
    for series in runs:
        curve = resample(series)
        for name in SIGNALS:
            if name in OF_POINTS:
                measured(name, series)
            elif name == "crossing":
                signal(name)(curve, 0.5)
            elif name == "forecast":
                signal(name)(curve, 0.5, 2.0 * float(curve.steps[-1]))
            elif name == "lead_lag":
                signal(name)(curve, curve)
            elif name == "return_on_length":
                signal(name)(series, series)
            elif name != "resample":
                signal(name)(curve)
    return time.thread_time() - start
