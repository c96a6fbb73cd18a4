"""CSV, TSV and JSON-lines files of metrics."""

from __future__ import annotations

from dataclasses import replace

from rlclinic.model.numbers import bounded_array, number_in
from rlclinic.model.series import FloatArray, StepAxis
from rlclinic.readers.columns import renamed, without
from rlclinic.readers.draft import Draft, RawTable
from rlclinic.readers.formats.tables.csv_table import read_csv_file
from rlclinic.readers.formats.tables.json_lines import looks_like_json_lines, read_json_lines_file
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.named_by_file import metric_of_file
from rlclinic.readers.parts.monitor import is_monitor
from rlclinic.readers.parts.row_labels import split_rows
from rlclinic.readers.place import Entry, Place

CSV = ("*.csv", "*.tsv", "progress.txt", "scores.txt")
JSON_LINES = ("*.jsonl", "result.json", "progress.json", "metrics.json", "*.ndjson")

# Columns with the time of a row, in unix seconds.
TIME_COLUMNS = ("_timestamp", "timestamp", "time/timestamp", "wall_time", "time")
WRAPPER = "data/"
HEAD = 4 << 10
_YEAR_2000 = 946_684_800.0


def table_entries(place: Place) -> list[Entry]:
    """Files that may hold rows of metrics, monitor files left out."""
    found = [entry for entry in place.match(*CSV) if not is_monitor(entry.head(512))]
    known = {entry.relative for entry in found}
    texts = [entry for entry in place.match("*.txt") if entry.relative not in known and metric_of_file(entry.name)]
    found += [entry for entry in texts if is_numbers(entry.head(HEAD))]
    found += [entry for entry in place.match(*JSON_LINES) if _has_json_lines(entry)]
    return found


def _has_json_lines(entry: Entry) -> bool:
    """Whether it holds rows; one line of lists, as metrics.json often is, is a table of another kind."""
    head = entry.head()
    first, _, rest = head.partition(b"\n")
    whole = entry.name == "metrics.json" and b"[" in first and not rest.strip()
    return looks_like_json_lines(head) and not whole


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
    split = split_rows(_unwrapped(named_by_file(table, source)), source, draft.place.member)
    for note in split.notes:
        draft.note(f"{source}: {note}")
    draft.budget = draft.budget or split.budget
    for part in split.tables:
        time = next((name for name in TIME_COLUMNS if _is_time(part.numbers.get(name))), "")
        rows = without(part, time) if time else part
        draft.tables.append(RawTable(rows, source, axis, part.numbers[time] if time else None))


def is_numbers(head: bytes) -> bool:
    """Whether a text is lines of numbers alone, in one column or two."""
    lines = [line.split(",") for line in head.decode("utf-8", "replace").splitlines()[:-1] if line.strip()]
    return bool(lines) and all(len(cells) <= 2 and None not in map(number_in, cells) for cells in lines)


def named_by_file(table: Table, source: str) -> Table:
    """Columns without a name of their own take that of the file: a value in each row, or behind a count."""
    value = next((name for name in ("Value", "value") if {*table.columns} <= {"Wall time", "Step", "step", name}), "")
    numbered = [name for name in table.columns if name.startswith("column_")]
    if not value and len(numbered) == len(table.columns) <= 2:
        value = numbered[-1]
    name = metric_of_file(source) if value in table.numbers else ""
    if not name:
        return table
    rest = [column for column in numbered if column != value]
    return renamed(table, {value: name, "Wall time": "wall_time", **dict.fromkeys(rest, "episode")})


def _is_time(column: FloatArray | None) -> bool:
    return column is not None and column.size > 0 and bool(column[0] > _YEAR_2000)


def _unwrapped(table: Table) -> Table:
    """verl's file logger wraps each row: {"step": 1, "data": {...}}."""
    wrapped = [name for name in table.columns if name.startswith(WRAPPER)]
    if "step" not in table.numbers or len(wrapped) != len(table.columns) - 1:
        return table
    return renamed(table, {name: name.removeprefix(WRAPPER) for name in wrapped})
