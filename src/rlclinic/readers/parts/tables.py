"""CSV, TSV and JSON-lines files of metrics."""

from __future__ import annotations

import re
from dataclasses import replace

from rlclinic.model.numbers import bounded_columns, number_in
from rlclinic.model.series import FloatArray, StepAxis
from rlclinic.readers.columns import renamed, without
from rlclinic.readers.draft import Draft, RawTable
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.tables.csv_table import read_csv_file
from rlclinic.readers.formats.tables.json_lines import looks_like_json_lines, read_json_lines_file
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.named_by_file import metric_of_file
from rlclinic.readers.parts.derived import per_episode, without_derived
from rlclinic.readers.parts.monitor import is_monitor
from rlclinic.readers.parts.number_lists import number_lists
from rlclinic.readers.parts.row_labels import split_rows
from rlclinic.readers.place import Entry, Place
from rlclinic.readers.reading import parsed_once
from rlclinic.readers.return_names import is_return

CSV = ("*.csv", "*.tsv", "progress.txt", "scores.txt")
JSON_LINES = ("*.jsonl", "result.json", "progress.json", "metrics.json", "*.ndjson")

# Columns with the time of a row, in unix seconds.
TIME_COLUMNS = ("_timestamp", "timestamp", "time/timestamp", "wall_time", "time")
WRAPPER = "data/"
# Characters of a line that is a curve rather than a row.
WIDE = 100
HEAD = 4 << 10
# Columns without a header that the name of the file explains: a count, a value, and perhaps one more.
NAMED = 3
# What separates the cells of a table in a text, and the rows that show one.
SEPARATORS = ("\t", ",", ";")
FEWEST_ROWS = 3
# Of a text with lists.
MAX_LISTS = 4 << 20
_SEED = re.compile(r"(?:seed|run|trial)[ _-]?\d{1,4}", re.IGNORECASE)
_YEAR_2000 = 946_684_800.0


def table_entries(place: Place) -> list[Entry]:
    """Files that may hold rows of metrics, monitor files left out."""
    found = [entry for entry in place.match(*CSV) if not is_monitor(entry.head(512))]
    known = {entry.relative for entry in found}
    texts = [entry for entry in place.entries if entry.relative not in known and is_plain_text(entry.name)]
    found += [entry for entry in texts if has_numbers(entry)]
    found += [entry for entry in place.match(*JSON_LINES) if _has_json_lines(entry)]
    return found


def _has_json_lines(entry: Entry) -> bool:
    """Whether it holds rows; one line of lists, as metrics.json often is, is a table of another kind."""
    head = entry.head()
    first, _, rest = head.partition(b"\n")
    whole = entry.name == "metrics.json" and b"[" in first and not rest.strip()
    return looks_like_json_lines(head) and not whole


def is_plain_text(name: str) -> bool:
    """Whether a file is text of any kind by its name."""
    return name.endswith((".txt", ".dat")) or "." not in name


def has_numbers(entry: Entry) -> bool:
    """Whether a text is numbers alone under a telling file name, a table with a return, or holds lists of numbers."""
    head = entry.head(HEAD)
    if is_separated(head) or (metric_of_file(entry.name) and is_numbers(head)):
        return True
    return (b"[" in head or head.count(b"\n") <= 1) and number_lists(
        decode(entry.head(MAX_LISTS)), entry.name
    ) is not None


def load_table(draft: Draft, entry: Entry) -> Table | None:
    """The rows of a file, noting what could not be read."""
    try:
        json_lines = entry.name.endswith((".jsonl", ".json", ".ndjson"))
        lists = None if json_lines else lists_of(entry)
        table = lists or (parsed_once(read_json_lines_file if json_lines else read_csv_file, entry))
    except OSError as error:
        draft.note(f"{entry.relative}: {error.strerror}")
        return None
    draft.used(entry, "table")
    draft.problems(entry.relative, table.problems)
    return replace(table, numbers=bounded_columns(table.numbers))


def lists_of(entry: Entry) -> Table | None:
    """The lists of a text, or the numbers of one long line, which have no rows of their own."""
    head = entry.head(HEAD)
    first = head.partition(b"\n")[0]
    wide = (
        metric_of_file(entry.name) and len(first) > WIDE and not any(mark.isalpha() for mark in first.decode("latin-1"))
    )
    if not wide and (b"[" not in head or not is_plain_text(entry.name)):
        return None
    return number_lists(decode(entry.read(MAX_LISTS)), entry.name)


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
    table, note = per_episode(_unwrapped(named_by_file(table, source)))
    table, notes = without_derived(table)
    split = split_rows(table, source, draft.place.member)
    for text in (note, *notes, *split.notes):
        if text:
            draft.note(f"{source}: {text}")
    draft.budget = draft.budget or split.budget
    for part in split.tables:
        time = next((name for name in TIME_COLUMNS if _is_time(part.numbers.get(name))), "")
        rows = without(part, time) if time else part
        draft.tables.append(RawTable(rows, source, axis, part.numbers[time] if time else None))


def is_numbers(head: bytes) -> bool:
    """Whether a text is lines of numbers alone, in at most three columns."""
    lines = [line.replace(",", " ").split() for line in head.decode("utf-8", "replace").splitlines()[:-1]]
    lines = [cells for cells in lines if cells]
    return bool(lines) and all(len(cells) <= NAMED and None not in map(number_in, cells) for cells in lines)


def is_separated(head: bytes) -> bool:
    """Whether a text is a header with the name of a return, and rows of as many numbers behind it."""
    lines = [line for line in head.decode("utf-8", "replace").splitlines()[:-1] if line.strip()]
    if len(lines) <= FEWEST_ROWS:
        return False
    mark = next((mark for mark in SEPARATORS if mark in lines[0]), "")
    names, *rows = (line.split(mark) if mark else [] for line in lines)
    return any(map(is_return, names)) and all(
        len(cells) == len(names) and None not in map(number_in, cells) for cells in rows
    )


def named_by_file(table: Table, source: str) -> Table:
    """Columns without a name of their own take that of the file: a value in each row, or behind a count."""
    value = next((name for name in ("Value", "value") if {*table.columns} <= {"Wall time", "Step", "step", name}), "")
    numbered = [name for name in table.columns if name.startswith("column_")]
    if not value and len(numbered) == len(table.columns) <= NAMED:
        value = numbered[1] if len(numbered) > 1 and _counts_rows(table.numbers.get(numbered[0])) else numbered[-1]
    if not value:
        # One column for each seed: each is a training of its own, and the first is read.
        value = next((name for name in table.columns if _SEED.fullmatch(name)), "")
        others = [name for name in table.columns if name != value and not _SEED.fullmatch(name)]
        value = "" if any(map(is_return, others)) else value
    name = metric_of_file(source) if value in table.numbers else ""
    if not name or (len(numbered) == NAMED and value != numbered[1]):
        return table
    count = {numbered[0]: "episode"} if len(numbered) > 1 and value == numbered[1] else {}
    return renamed(table, {value: name, "Wall time": "wall_time", **count})


def _counts_rows(column: FloatArray | None) -> bool:
    return column is not None and column.size > 1 and bool((column[1:] - column[:-1] > 0).all())


def _is_time(column: FloatArray | None) -> bool:
    return column is not None and column.size > 0 and bool(column[0] > _YEAR_2000)


def _unwrapped(table: Table) -> Table:
    """verl's file logger wraps each row: {"step": 1, "data": {...}}."""
    wrapped = [name for name in table.columns if name.startswith(WRAPPER)]
    if "step" not in table.numbers or len(wrapped) != len(table.columns) - 1:
        return table
    return renamed(table, {name: name.removeprefix(WRAPPER) for name in wrapped})
