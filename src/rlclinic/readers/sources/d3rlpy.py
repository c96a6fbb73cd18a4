"""d3rlpy's log folder: one headerless CSV per metric with epoch, gradient step, value."""

from __future__ import annotations

from rlclinic.model.series import StepAxis
from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.tables.csv_table import read_csv_file
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.sources.files import list_checkpoints

COLUMNS = ("epoch", "step", "value")
_SUFFIXES = ("_grad.csv",)
# Words in a folder name that do not name the data set.
_NOT_DATA = frozenset({"", "online", "offline", "pretraining", "finetuning"})


def read(draft: Draft) -> None:
    """Read params.json and every metric file."""
    draft.framework = "d3rlpy"
    # The folder is named <algorithm>_<dataset>_<seed>_<time>.
    algorithm, _, rest = draft.place.folder.name.partition("_")
    draft.algorithm = draft.algorithm or algorithm
    parts = [part for part in rest.split("_") if part not in _NOT_DATA and not part.isdigit()]
    draft.environment = draft.environment or "_".join(parts)
    params = draft.place.first("params.json")
    if params is not None:
        read_config(draft, params)
    # Trained online, the step counts env steps; offline it counts gradient steps.
    axis: StepAxis = "env_steps" if draft.place.first("rollout_return.csv") is not None else "updates"
    for entry in draft.place.match("*.csv"):
        if entry.name.endswith(_SUFFIXES):
            continue
        try:
            table = read_csv_file(entry, header=COLUMNS)
        except OSError as error:
            draft.note(f"{entry.relative}: {error.strerror}")
            continue
        draft.used(entry, "metric")
        draft.problems(entry.relative, table.problems)
        if table.rows and set(COLUMNS) <= set(table.numbers):
            steps, values = table.numbers["step"], table.numbers["value"]
            draft.metric(entry.name.removesuffix(".csv"), steps, values, entry.relative, axis=axis)
    list_checkpoints(draft)
