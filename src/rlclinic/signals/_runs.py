"""When something is first so, and since when it is always so."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def first(where: NDArray[np.bool_]) -> int | None:
    """First index at which it is so."""
    return int(np.argmax(where)) if where.any() else None


def since(where: NDArray[np.bool_]) -> int | None:
    """First index from which on it is always so."""
    if not where[-1]:
        return None
    misses = np.flatnonzero(~where)
    return int(misses[-1]) + 1 if misses.size else 0
