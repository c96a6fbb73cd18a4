"""Writes live diagnostics to the tracker that is active in the process. None is imported or started for that."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from rlclinic.live.guard import Guard

# Seconds between two rows: a tracker's server must not slow the training down.
EVERY = 5.0

Writer = Callable[[Mapping[str, float], int], None]


class Publisher:
    """The active trackers of a process, and writers that a callback adds (TensorBoard's has no global run)."""

    def __init__(self, guard: Guard, writers: Mapping[str, Writer] | None = None) -> None:
        self._guard = guard
        self._writers: dict[str, Writer] = {"wandb": _wandb, "mlflow": _mlflow, "trackio": _trackio, **(writers or {})}
        self._next = 0.0

    def write(self, metrics: Mapping[str, float], step: float) -> None:
        """One row, where the last is long enough ago."""
        if not metrics or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY
        for name, writer in self._writers.items():
            self._guard.call(f"tracker {name}", writer, metrics, int(step))


def _wandb(metrics: Mapping[str, float], step: int) -> None:
    run = getattr(sys.modules.get("wandb"), "run", None)
    if run is not None:
        # Joins the row that the user's own code commits: a step of ours would push his out of order.
        run.log(dict(metrics), commit=False)


def _mlflow(metrics: Mapping[str, float], step: int) -> None:
    library: Any = sys.modules.get("mlflow")
    if library is not None and library.active_run() is not None:
        # It refuses a whole row for one name with other characters, and environments name the parts of their reward.
        library.log_metrics({re.sub(r"[^\w\-. :/]", "_", name): value for name, value in metrics.items()}, step=step)


def _trackio(metrics: Mapping[str, float], step: int) -> None:
    library: Any = sys.modules.get("trackio")
    current = getattr(getattr(library, "context_vars", None), "current_run", None)
    if current is not None and current.get() is not None:
        current.get().log(dict(metrics))
