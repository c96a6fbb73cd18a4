"""How large an entropy can be, and whether it is that of a density, which knows no zero."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.rules.patient import Patient
from rlclinic.rules.stretch import finite, rounding

# Quantile that stands for the largest value: a single odd point does not count in long runs.
NEARLY_ALL = 0.999


def ceiling(patient: Patient) -> float | None:
    """ln(number of actions) where that is known, else the largest entropy seen: never more than the true one."""
    if patient.max_entropy is not None:
        return patient.max_entropy
    series = patient.series("entropy")
    if series is None:
        return None
    _, values = finite(series)
    return float(np.quantile(values, NEARLY_ALL)) if values.size else None


def is_density(patient: Patient) -> bool:
    """Whether the policy is continuous: its entropy may be negative, and a small one means nothing."""
    if patient.max_entropy is not None:
        return False
    if patient.series("action_std/mean") is not None or action_dimensions(patient) is not None:
        return True
    series = patient.series("entropy")
    if series is None:
        return False
    _, values = finite(series)
    return bool((values < -rounding(series)).any())


def action_dimensions(patient: Patient) -> float | None:
    """Number of continuous action dimensions, where the config tells."""
    shape = patient.run.config.get("action_shape")
    sizes = [shape] if isinstance(shape, int | float) else shape
    if not isinstance(sizes, list | tuple) or not sizes:
        return None
    if not all(isinstance(size, int | float) and size > 0 for size in sizes):
        return None
    return float(math.prod(np.asarray(sizes, dtype=np.float64)))
