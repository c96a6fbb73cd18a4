"""CSV, TSV and JSON-lines files of metrics."""

from __future__ import annotations

from dataclasses import replace

from rlclinic.model.numbers import bounded_array
from rlclinic.model.series import FloatArray, StepAxis
from rlclinic.readers.columns import renamed, without
from rlclinic.readers.draft import Draft, RawTable
from rlclinic.readers.formats.tables.csv_table import read_csv_file
from rlclinic.readers.formats.tables.json_lines import looks_like_json_lines, read_json_lines_file
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.parts.monitor import is_monitor
from rlclinic.readers.parts.row_labels import split_rows
from rlclinic.readers.place import Entry, Place

CSV = ("*.csv", "*.tsv", "progress.txt")
JSON_LINES = ("*.jsonl", "result.json", "progress.json", "metrics.json", "*.ndjson")

# Columns with the time of a row, in unix seconds.
TIME_COLUMNS = ("_timestamp", "timestamp", "time/timestamp", "wall_time", "time")
WRAPPER = "data/"
_YEAR_2000 = 946_684_800.0


def table_entries(place: Place) -> list[Entry]:
    """Files that may hold rows of metrics, monitor files left out."""
    found = [entry for entry in place.match(*CSV) if not is_monitor(entry.head(512))]
    found += [entry for entry in place.match(*JSON_LINES) if looks_like_json_lines(entry.head())]
    return found


def load_table(draft: Draft, entry: Entry) -> Table | None:
    """The rows of a file, noting what could not be read."""
    try:
        json_lines = entry.name.endswith((".jsonl", ".json", ".ndjson"))
        table = read_json_lines_file(entry) if json_lines else read_csv_file(entry)
    except OSError as error:
        draft.note(f"{entry.relative}: {error.strerror}")
        return None
    draft.used(entry, "table")
    draft.problems(entry.relative, table.problems)
    return replace(table, numbers={name: bounded_array(column) for name, column in table.numbers.items()})


def read_table(draft: Draft, entry: Entry, axis: StepAxis | None = None) -> None:
    """Add a file of metric rows."""
    table = load_table(draft, entry)
    if table is not None:
        add_table(draft, table, entry.relative, axis)


def add_table(draft: Draft, table: Table, source: str, axis: StepAxis | None = None) -> None:
    """Add rows of metrics; a column of unix times becomes the time of the rows."""
    if not table.rows:
        draft.note(f"{source}: a header but no row")
        return
    split = split_rows(_unwrapped(table), source, draft.place.member)
    for note in split.notes:
        draft.note(f"{source}: {note}")
    draft.budget = draft.budget or split.budget
    for part in split.tables:
        time = next((name for name in TIME_COLUMNS if _is_time(part.numbers.get(name))), "")
        rows = without(part, time) if time else part
        draft.tables.append(RawTable(rows, source, axis, part.numbers[time] if time else None))


def _is_time(column: FloatArray | None) -> bool:
    return column is not None and column.size > 0 and bool(column[0] > _YEAR_2000)


def _unwrapped(table: Table) -> Table:
    """verl's file logger wraps each row: {"step": 1, "data": {...}}."""
    wrapped = [name for name in table.columns if name.startswith(WRAPPER)]
    if "step" not in table.numbers or len(wrapped) != len(table.columns) - 1:
        return table
    return renamed(table, {name: name.removeprefix(WRAPPER) for name in wrapped})
