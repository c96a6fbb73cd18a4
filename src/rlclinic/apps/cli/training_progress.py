"""The progress of a training run: a bar on a terminal, plain lines in a pipe."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlclinic.lab.progress import Progress

BAR = 24
# Share of the budget between two plain lines, and least seconds between them.
SHARE, LEAST_SECONDS = 0.05, 5.0


class ProgressLine:
    """Draws `Progress` values to stderr."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._drawn = False
        self._next_share = 0.0
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        if self._terminal:
            sys.stderr.write("\r" + describe(progress) + "\x1b[K")
            sys.stderr.flush()
            self._drawn = True
            return
        done = progress.env_steps / progress.total_steps
        now = time.monotonic()
        if self._next_share <= done < 1 and now - self._last >= LEAST_SECONDS:
            self._next_share, self._last = done + SHARE, now
            sys.stderr.write(describe(progress, bar=False) + "\n")
            sys.stderr.flush()

    def close(self) -> None:
        """Leave the bar as it is and go to the next line."""
        if self._drawn:
            sys.stderr.write("\n")


def describe(progress: Progress, *, bar: bool = True) -> str:
    """One line: share, steps, returns, speed, time left."""
    share = min(progress.env_steps / progress.total_steps, 1.0)
    filled = round(BAR * share)
    parts = [f"{100 * share:3.0f}%", f"{progress.env_steps:,}/{progress.total_steps:,} steps"]
    if progress.train_return is not None:
        parts.append(f"return {progress.train_return:.4g}")
    if progress.eval_return is not None:
        parts.append(f"evaluation {progress.eval_return:.4g}")
    parts.append(f"{progress.steps_per_second:,.0f} steps/s")
    if progress.seconds_left is not None:
        parts.append(f"{duration(progress.seconds_left)} left")
    line = "  ".join(parts)
    return f"{'█' * filled}{'░' * (BAR - filled)} {line}" if bar else line


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
