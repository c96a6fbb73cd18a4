"""Series with known properties, and the table of all signals, for the tests of signals."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from rlclinic.model.series import FloatArray, Series

SIGNALS = (
    "area",
    "change_points",
    "collapse",
    "constants",
    "crossing",
    "departure",
    "distribution",
    "drift",
    "forecast",
    "lead_lag",
    "level",
    "oscillation",
    "plateau",
    "resample",
    "return_on_length",
    "spikes",
    "trend",
)


def signal(name: str) -> Callable[..., Any]:
    """The public function of one signal."""
    function: Callable[..., Any] = getattr(import_module(f"rlclinic.signals.{name}"), name)
    return function


def measured(name: str, series: Series, threshold: float = 0.5) -> Any:
    """A signal of a series, with plausible arguments where it needs more than the series."""
    function = signal(name)
    if name == "crossing":
        return function(series, threshold)
    if name == "forecast":
        end = series.last_step
        return function(series, threshold, 2.0 * end if end is not None else 1.0)
    if name in ("lead_lag", "return_on_length"):
        return function(series, series)
    return function(series)


def made(values: Any, steps: Any = None, decimals: int | None = None) -> Series:
    """A series of values at steps 0, 10, 20, ..."""
    array = np.asarray(values, dtype=np.float64)
    where = np.asarray(np.arange(array.size) * 10.0 if steps is None else steps, dtype=np.float64)
    return Series("m", "m", where, array, decimals=decimals)


def correlated(n: int, phi: float, seed: int, runs: int = 1) -> FloatArray:
    """Rows of unit noise whose neighbours correlate with phi."""
    shocks = np.random.default_rng(seed).normal(size=(runs, n))
    noise = np.empty_like(shocks)
    noise[:, 0] = shocks[:, 0]
    for t in range(1, n):
        noise[:, t] = phi * noise[:, t - 1] + math.sqrt(1.0 - phi * phi) * shocks[:, t]
    return noise


def white(n: int, seed: int = 0) -> FloatArray:
    """Independent unit noise."""
    return np.random.default_rng(seed).normal(size=n)


def sigmoid(n: int, at: float = 0.4, speed: float = 20.0) -> FloatArray:
    """A climb from 0 to 1."""
    return 1.0 / (1.0 + np.exp(-speed * (np.linspace(0.0, 1.0, n) - at)))
