"""Metrics of a run side by side as rows: one per logged step, thinned to what an answer can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rlclinic.apps.mcp.epochs import epochs_at
from rlclinic.apps.mcp.reply import Number
from rlclinic.apps.mcp.workspace import OpenRun
from rlclinic.reference.metric_lookup import EPOCH_NAMES, STEP_NAMES, lookup

if TYPE_CHECKING:
    from rlclinic.model.series import FloatArray, Series

# Bytes of JSON that rows may take, and of a cell beside its name.
ROOM = 5_200
CELL = 12
FEWEST_ROWS = 10
# Columns where the caller names none.
DEFAULT = ("return/train", "return/best", "return/eval", "episode_length")

Row = dict[str, Number]


def columns_of(opened: OpenRun, names: Sequence[str]) -> dict[str, Series]:
    """The series by the name that the caller used; without names the returns and the episode length, as logged.

    Names that the run does not know are passed over, unless it knows none of them.
    """
    if names:
        wanted = [name for name in dict.fromkeys(names) if name not in STEP_NAMES | EPOCH_NAMES]
        known = {name: series for name in wanted if (series := lookup(opened.run, name)) is not None}
        return known or {name: opened.series(name) for name in wanted}
    found = [opened.run.series[name] for name in DEFAULT if name in opened.run.series]
    if not found and opened.run.series:
        found = list(opened.run.series.values())[:4]
    return {series.logged_as: series for series in found}


def rows_of(opened: OpenRun, columns: dict[str, Series], window: tuple[float, float] | None = None) -> list[Row]:
    """A row for every step at which one of the columns was logged; `window` is in epochs, both ends included.

    A metric that was not logged at a step is not in its row. Steps go by what they count: `total_env_steps`, `updates`.
    """
    if not columns:
        return []
    steps = np.unique(np.concatenate([series.steps for series in columns.values()]))
    epochs = epochs_at(opened, steps)
    if window is not None:
        inside = (epochs >= window[0] - 1e-9) & (epochs <= window[1] + 1e-9)
        steps, epochs = steps[inside], epochs[inside]
    axis = "total_env_steps" if opened.run.step_axis == "env_steps" else opened.run.step_axis
    table: list[Row] = [
        {"epoch": round(float(epoch), 2), axis: float(step)} for epoch, step in zip(epochs, steps, strict=True)
    ]
    for name, series in columns.items():
        places = np.searchsorted(steps, series.steps)
        for place, step, value in zip(places, series.steps, series.values, strict=True):
            if place < steps.size and steps[place] == step:
                table[place][name] = float(value)
    return table


def room_for(columns: dict[str, Series]) -> int:
    """Rows that fit into an answer."""
    width = 2 * CELL + 28 + sum(len(name) + 4 + CELL for name in columns)
    return max(FEWEST_ROWS, ROOM // width)


def thinned(rows: list[Row], most: int) -> list[Row]:
    """Evenly chosen rows, the first and the last among them; never an average, so that every number was logged."""
    if len(rows) <= most:
        return rows
    chosen: FloatArray = np.unique(np.linspace(0, len(rows) - 1, max(most, 2)).round())
    return [rows[int(index)] for index in chosen]
