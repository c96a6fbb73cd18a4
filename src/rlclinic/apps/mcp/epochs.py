"""Epochs of a run whose table counts them: agents of gymnasium-solver name stretches of a run by epoch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlclinic.apps.mcp.workspace import OpenRun
    from rlclinic.model.run import Run
    from rlclinic.model.series import FloatArray

COLUMN = "epoch"
STEPS = "train/cnt/total_env_steps"
TABLE = "metrics.csv"


def epochs_of(run: Run, path: Path) -> tuple[FloatArray, FloatArray] | None:
    """Env steps and epochs of the training rows, both rising; None where the run counts no epochs."""
    table = path / TABLE
    if run.framework not in ("gymnasium-solver", "rlclinic") or not table.is_file() or table.is_symlink():
        return None
    import numpy as np

    from rlclinic.readers.formats.tables.csv_table import read_csv_file
    from rlclinic.readers.place import named

    numbers = read_csv_file(named(table)).numbers
    steps, epochs = numbers.get(STEPS), numbers.get(COLUMN)
    if steps is None or epochs is None:
        return None
    there = np.isfinite(steps) & np.isfinite(epochs)
    if not there.any():
        return None
    kept, first = np.unique(steps[there], return_index=True)
    return kept, epochs[there][first]


def epochs_at(opened: OpenRun, steps: FloatArray) -> FloatArray:
    """The epoch of each step: the run's own, else the number of the logged point on its return, from 0."""
    import numpy as np

    if opened.epochs is not None:
        return np.interp(steps, *opened.epochs)
    series = opened.run.returns or next(iter(opened.run.series.values()), None)
    if series is None or not len(series):
        return np.arange(steps.size, dtype=np.float64)
    known = np.unique(series.steps)
    return np.interp(steps, known, np.arange(known.size, dtype=np.float64))


def epoch_meaning(opened: OpenRun) -> str:
    """What an epoch is in this run."""
    return (
        "epoch of the trainer" if opened.epochs is not None else "number of the logged row; this run counts no epochs"
    )
