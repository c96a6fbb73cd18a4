"""How much of a training's time a part of a monitor may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Of what work took so far, how fast the longest is forgotten.
FORGOTTEN = 0.9


class Allowance:
    """A share of the time since it was made, on a clock of the caller's choice."""

    def __init__(self, share: float, clock: Callable[[], float] = time.perf_counter, expected: float = 0.0) -> None:
        self.share = share
        self.spent = 0.0
        """Seconds that work has taken so far."""
        self.longest = expected
        """Seconds that the next piece of work is expected to take."""
        self._clock = clock
        self._began = clock()

    @property
    def left(self) -> bool:
        """Whether there is time for another piece of work."""
        return (self._clock() - self._began) * self.share >= self.spent + self.longest

    @contextmanager
    def work(self) -> Iterator[None]:
        """Count what the block takes."""
        began = self._clock()
        try:
            yield
        finally:
            took = self._clock() - began
            self.spent += took
            self.longest = max(FORGOTTEN * self.longest, took)
