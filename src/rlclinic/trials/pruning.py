"""Give up a run of a search that is clearly behind the others at the same step."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import optuna

from rlclinic.model.errors import RlclinicError
from rlclinic.readers.open import read

# Seconds between looks at the files of one run: reading them costs some hundredths of a second.
EVERY = 4.0
# Runs that must have ended, and the share of a run that must have passed, before any is given up.
STARTUP_TRIALS = 4
WARM_UP = 0.4


class Pruning:
    """Optuna's median pruner over the returns that a run has logged so far."""

    def __init__(self, total_steps: int) -> None:
        self._pruner = optuna.pruners.MedianPruner(STARTUP_TRIALS, int(WARM_UP * total_steps))
        self._looked: dict[Path, float] = {}
        self._told: dict[Path, float] = {}
        """The last step that was reported."""
        self._lock = threading.Lock()

    def gives_up(self, trial: optuna.Trial | None, study: optuna.Study, folder: Path) -> bool:
        """Whether the run in a folder is not worth its steps any more; None for a run that is not Optuna's."""
        if trial is None or not folder.is_dir() or time.monotonic() - self._looked.get(folder, 0.0) < EVERY:
            return False
        with self._lock:
            self._looked[folder] = time.monotonic()
            self.report(trial, folder, _returns(folder))
            frozen = next(item for item in study.get_trials(deepcopy=False) if item.number == trial.number)
            return bool(frozen.intermediate_values) and self._pruner.prune(study, frozen)

    def report(self, trial: optuna.Trial, folder: Path, points: Sequence[tuple[float, float]]) -> None:
        """Tell Optuna the returns of a run that it does not know yet."""
        for step, value in points:
            if step > self._told.get(folder, -1.0):
                # Lower is better in the study.
                trial.report(-value, int(step))
                self._told[folder] = step

    def reached(self, folder: Path) -> float:
        """The step that a run got to."""
        points = _returns(folder)
        return points[-1][0] if points else 0.0


def _returns(folder: Path) -> list[tuple[float, float]]:
    try:
        run = read(folder)
    except RlclinicError:
        return []
    series = run.series.get("return/eval")
    if series is None:
        return []
    sound = np.isfinite(series.values)
    return list(zip(series.steps[sound].tolist(), series.values[sound].tolist(), strict=True))
