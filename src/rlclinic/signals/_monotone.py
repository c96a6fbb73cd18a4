"""The monotone course closest to a curve."""

from __future__ import annotations

import numpy as np

from rlclinic.model.series import FloatArray


def rising(y: FloatArray) -> FloatArray:
    """The closest course that never falls (pool adjacent violators)."""
    means: list[float] = []
    sizes: list[int] = []
    for value in y.tolist():
        mean, size = value, 1
        while means and means[-1] > mean:
            before, count = means.pop(), sizes.pop()
            mean = (mean * size + before * count) / (size + count)
            size += count
        means.append(mean)
        sizes.append(size)
    return np.repeat(means, sizes)


def monotone(y: FloatArray) -> tuple[FloatArray, float]:
    """The closest course that never turns, and its direction, 1 or -1."""
    up, down = rising(y), -rising(-y)
    if float(((y - up) ** 2).sum()) <= float(((y - down) ** 2).sum()):
        return up, 1.0
    return down, -1.0
