"""How the cost of a work grows with its size, whatever the speed of the machine."""

from __future__ import annotations

import time
from collections.abc import Callable

# Four times the size: 4 for linear work, 16 for quadratic.
TIMES = 4
FASTER_THAN_LINEAR = 8.0
TRIES = 6


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether work of a size costs about four times the CPU time of a quarter of it.

    Both are timed one after the other, so that a busy machine slows both; one fair pair suffices.
    """
    return any(_seconds(work, size) <= FASTER_THAN_LINEAR * _seconds(work, size // TIMES) for _ in range(TRIES))


def _seconds(work: Callable[[int], object], size: int) -> float:
    start = time.thread_time()
    work(size)
    return time.thread_time() - start
