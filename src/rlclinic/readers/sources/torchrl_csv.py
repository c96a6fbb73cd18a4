"""TorchRL's CSVLogger: `scalars/<name>.csv`, headerless rows of step and value."""

from __future__ import annotations

from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.tables.csv_table import read_csv_file
from rlclinic.readers.place import Entry
from rlclinic.readers.sources.files import list_checkpoints, read_configs

COLUMNS = ("step", "value")


def read(draft: Draft) -> None:
    """Read every scalar file and the configs beside them."""
    draft.framework = "torchrl"
    read_configs(draft)
    for entry in draft.place.match("scalars/*.csv", "*/scalars/*.csv"):
        _scalar(draft, entry)
    list_checkpoints(draft)


def _scalar(draft: Draft, entry: Entry) -> None:
    try:
        table = read_csv_file(entry, header=COLUMNS)
    except OSError as error:
        draft.note(f"{entry.relative}: {error.strerror}")
        return
    draft.used(entry, "metric")
    draft.problems(entry.relative, table.problems)
    if not table.rows or not set(COLUMNS) <= set(table.numbers):
        return
    name = entry.relative.rpartition("scalars/")[2].removesuffix(".csv")
    draft.metric(name, table.numbers["step"], table.numbers["value"], entry.relative, axis="env_steps")
