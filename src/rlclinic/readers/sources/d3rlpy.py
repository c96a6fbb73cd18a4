"""d3rlpy's log folder: one headerless CSV per metric with epoch, gradient step, value."""

from __future__ import annotations

from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.csv_table import read_csv_file
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.sources.files import list_checkpoints

COLUMNS = ("epoch", "step", "value")
_SUFFIXES = ("_grad.csv",)


def read(draft: Draft) -> None:
    """Read params.json and every metric file."""
    draft.framework = "d3rlpy"
    # The folder is named <algorithm>_<dataset>_<seed>_<time>.
    algorithm, _, rest = draft.place.folder.name.partition("_")
    draft.algorithm = draft.algorithm or algorithm
    parts = rest.removeprefix("pretraining_").split("_")
    if len(parts) >= 2 and parts[-1].isdigit():
        draft.environment = "_".join(part for part in parts[:-1] if not part.isdigit())
    params = draft.place.first("params.json")
    if params is not None:
        read_config(draft, params)
    for entry in draft.place.match("*.csv"):
        if entry.name.endswith(_SUFFIXES):
            continue
        try:
            table = read_csv_file(entry.path, header=COLUMNS)
        except OSError as error:
            draft.note(f"{entry.relative}: {error.strerror}")
            continue
        draft.used(entry, "metric")
        draft.problems(entry.relative, table.problems)
        if table.rows and set(COLUMNS) <= set(table.numbers):
            steps, values = table.numbers["step"], table.numbers["value"]
            draft.metric(entry.name.removesuffix(".csv"), steps, values, entry.relative, axis="updates")
    list_checkpoints(draft)
