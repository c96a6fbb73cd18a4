"""Console logs and notebooks: metric lines, printed configs, errors, and how the run ended."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING

import numpy as np

from rlclinic.readers.axes import clock
from rlclinic.readers.columns import from_sparse, without
from rlclinic.readers.configs.untyped import typed
from rlclinic.readers.draft import Draft, RawTable
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import clean_lines, decode
from rlclinic.readers.formats.logs.notebook import html_rows, is_notebook, notebook_text
from rlclinic.readers.named_by_file import metric_of_file
from rlclinic.readers.parts.tables import has_numbers
from rlclinic.readers.place import Entry, Place
from rlclinic.readers.reading import parsed_once
from rlclinic.readers.redaction.redact import mentionable, redact_value, secrets_in
from rlclinic.readers.status import log_clues

if TYPE_CHECKING:
    from rlclinic.readers.consoles import ConsoleRows

PATTERNS = (
    "*.log",
    "*.out",
    "*.err",
    "log.txt",
    "stdout*",
    "stderr*",
    "console*.txt",
    "train*.txt",
    "*.ipynb",
)
# Texts of all kinds, of which the first few are looked into.
TEXTS = ("*.txt", "*.md")
MAX_TEXTS = 20
CONFIG_DUMPS = ("args.txt", "config.txt", "params.txt", "hparams.txt", "hyperparameters.txt", "command.txt")
# Of a larger log the first and the last part are read: the config stands first, the end last. Between them the lines
# that begin like metrics of a language-model trainer are picked out: most of the rest is printed samples.
MAX_LOG_BYTES = 64 << 20
END_BYTES = 8 << 20
BLOCK_BYTES = 8 << 20
MAX_SIFTED_BYTES = 1 << 30
MAX_PICKED_BYTES = 32 << 20
LONGEST_PICKED = 64 << 10
# Lines of one command that are looked at together.
MAX_JOINED = 500
# Lines at both ends that may tell the framework.
MARK_LINES = 400

# How metric lines of verl, OpenRLHF and TRL begin; plain words are found far faster than patterns.
_METRICS = {
    b"step:": re.compile(rb"step:\d+ - "),
    b"Global step ": re.compile(rb"Global step \d+: \{"),
    b"{'loss'": re.compile(rb"\{'loss': "),
    b"{'eval_": re.compile(rb"\{'eval_(?:loss|reward)': "),
}
_HEADLINE = re.compile(r"(?:\bStep|Learning iteration) \d+/(\d+)\b|\b(\d+) total (?:steps|updates|iterations)\b")

_CACHED = re.compile(r"(?:datasets/|dataset since )([\w.-]+?)(?:___|/)([\w.-]+)(?:/| couldn't)")

# Dialects whose framework is certain from the form of their lines.
FRAMEWORKS = {
    "openrlhf": "openrlhf",
    "nemo-rl": "nemo-rl",
    "slime": "slime",
    "prime-rl": "prime-rl",
    "rsl_rl-console": "rsl_rl",
}


# Dialects that are words and numbers of a home-made console.
HOME_MADE = frozenset({"counted lines", "columns"})


def log_entries(place: Place) -> tuple[Entry, ...]:
    """The files of a place that look like logs by their name."""
    found = place.match(*PATTERNS)
    texts = (entry for entry in place.match(*TEXTS) if entry not in found and entry.name not in CONFIG_DUMPS)
    # Numbers alone are a table whose column its name tells.
    texts = (entry for entry in texts if not (metric_of_file(entry.name) and has_numbers(entry)))
    found += tuple(entry for entry in islice(texts, MAX_TEXTS) if _holds_metrics(entry))
    return tuple(entry for entry in found if not entry.relative.startswith("logs/debug"))


def _holds_metrics(text: Entry) -> bool:
    # Most runs have no such file, and every dialect of consoles would be loaded for it.
    from rlclinic.readers.sniff import is_metric_file

    return is_metric_file(text)


def read_log(draft: Draft, entry: Entry, *, metrics: bool = True) -> list[str]:
    """Read one log; its lines are returned for readers that know more about them."""
    lines = _lines(draft, entry)
    draft.used(entry, "log")
    draft.log(lines, entry.relative)
    draft.log_marks.extend((*lines[:MARK_LINES], *lines[-MARK_LINES:]))
    if entry.name.endswith(".md"):
        draft.labels += [line.strip("# ") for line in lines[:MARK_LINES] if line.startswith("# ")]
    rows: Sequence[int] = ()
    if metrics:
        _printed_config(draft, lines, entry.relative)
        _data_set(draft, lines, entry.relative)
        rows = _metric_lines(draft, lines, entry)
    log_clues(draft, lines, entry.relative, rows)
    return lines


def read_config_dump(draft: Draft, entry: Entry) -> None:
    """A text file with printed arguments: `Namespace(lr=0.1)`, or a line `lr: 0.1` each."""
    draft.used(entry, "config")
    _printed_config(draft, _lines(draft, entry), entry.relative)


def _metric_lines(draft: Draft, lines: Sequence[str], entry: Entry) -> Sequence[int]:
    """Add the metrics of a log; the lines that they stand in."""
    from rlclinic.readers.consoles import Console
    from rlclinic.readers.sniff import HEAD, head_console

    # A short log was looked through when the run was found.
    console, file = parsed_once(head_console, entry) if entry.size < HEAD else Console(()), entry.relative
    found = console.rows if console.lines == lines else Console(lines).rows
    for rows in found[:1]:
        draft.problems(file, rows.problems)
        draft.framework = draft.framework or FRAMEWORKS.get(rows.dialect, "")
        draft.tables.append(_table(rows, file))
        draft.budget = draft.budget or _announced(lines)
        draft.note(f"{file}: {len(rows.rows)} metric lines read as {rows.dialect}")
    return found[0].lines if found else ()


def _data_set(draft: Draft, lines: Sequence[str], file: str) -> None:
    """Hugging Face's library tells which data set it takes from its cache; a config that names one comes first."""
    for number, line in enumerate(lines[:MARK_LINES], start=1):
        found = _CACHED.search(line)
        if found:
            draft.setting("dataset_name", f"{found[1]}/{found[2]}", file, number)
            return


def _announced(lines: Sequence[str]) -> float | None:
    """The number of steps that a headline such as `Step 5/100` counts up to, or `100 total steps` announces."""
    for line in reversed(lines):
        if not ("tep " in line or "iteration " in line or " total " in line):
            continue
        found = _HEADLINE.search(line)
        if found:
            return float(found[1] or found[2])
    return None


def _table(rows: ConsoleRows, file: str) -> RawTable:
    found: dict[str, tuple[list[int], list[float]]] = {"step": (list(range(len(rows.steps))), list(rows.steps))}
    for index, row in enumerate(rows.rows):
        for name, value in row.items():
            indices, values = found.setdefault(name, ([], []))
            indices.append(index)
            values.append(value)
    arrays = {
        name: (np.array(indices), np.array(values, dtype=np.float64)) for name, (indices, values) in found.items()
    }
    table = from_sparse(arrays, len(rows.rows))
    if rows.axis == "rows" and clock(without(table, "step").numbers) is not None:
        return RawTable(without(table, "step"), file, None, None, dict(rows.decimals))
    spare = rows.dialect in HOME_MADE
    # What a step of a home-made console counts, the framework says where one is recognised.
    axis = None if spare and rows.axis == "env_steps" else rows.axis
    return RawTable(table, file, axis, None, dict(rows.decimals), spare)  # type: ignore[arg-type]


def _printed_config(draft: Draft, lines: Sequence[str], file: str) -> None:
    from rlclinic.readers.consoles import find_config

    config = find_config(lines)
    secrets = {line: secrets_in(_around(lines, line)) for line in set(config.lines.values())}
    draft.secrets.update(text for found in secrets.values() for secret in found for text in mentionable(secret))
    draft.typed |= config.typed - draft.settings.keys()
    for key, value in config.values.items():
        line = config.lines[key]
        # What the whole line gives away as a secret, the value alone may not.
        clean = redact_value(key, value, secrets[line])
        draft.setting(key, typed(clean) if isinstance(clean, str) else clean, file, line)


def _around(lines: Sequence[str], line: int) -> str:
    """The text that a setting on a line was read from: with the line before it, and those that a backslash joins."""
    end = line
    while end < len(lines) and lines[end - 1].endswith("\\") and end - line < MAX_JOINED:
        end += 1
    return "\n".join(lines[max(0, line - 2) : end])


def _both_ends(entry: Entry) -> tuple[bytes, int]:
    """A log whole or, where it is too long, its beginning and its end; and how much of each."""
    if entry.size <= MAX_LOG_BYTES:
        return entry.read(MAX_LOG_BYTES), entry.size
    with entry.open() as file:
        picked = _picked(file, entry.size)
        half = END_BYTES if picked else MAX_LOG_BYTES // 2
        file.seek(0)
        first = file.read(half).rpartition(b"\n")[0]
        file.seek(-half, os.SEEK_END)
        return b"\n".join((first, picked, file.read(half).partition(b"\n")[2])), half


def _picked(file: IO[bytes], size: int) -> bytes:
    """The metric lines between both ends, block by block; empty where there are none, or too much to look at."""
    if size > MAX_SIFTED_BYTES:
        return b""
    file.seek(END_BYTES)
    left, rest, found, taken = size - 2 * END_BYTES, b"", [], 0
    while left > 0 and taken < MAX_PICKED_BYTES:
        block = file.read(min(BLOCK_BYTES, left))
        left -= len(block) or left
        # What no line end closes yet is carried over, unless no metric line is that long.
        text, _, rest = (rest[-LONGEST_PICKED:] + block).rpartition(b"\n")
        lines = sorted({span for word in _METRICS for span in _spans(text, word)})
        found += [text[begin:end] for begin, end in lines]
        taken += sum(end - begin for begin, end in lines)
    return b"\n".join(found)


def _spans(text: bytes, word: bytes) -> Iterator[tuple[int, int]]:
    """Where the lines lie that hold the word as metric lines do."""
    at = text.find(word)
    while at >= 0:
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        begin = text.rfind(b"\n", 0, at) + 1
        if end - begin <= LONGEST_PICKED and _METRICS[word].match(text, at):
            yield begin, end
        at = text.find(word, at + 1)


def _lines(draft: Draft, entry: Entry) -> list[str]:
    try:
        data, whole = _both_ends(entry)
    except OSError as error:
        draft.note(f"{entry.relative}: {error.strerror}")
        return []
    if entry.size > MAX_LOG_BYTES:
        half = f"{whole >> 20} MB"
        draft.cut.append(f"the first and the last {half} of {entry.relative}")
        between = ", and the metric lines between them" if whole == END_BYTES else ""
        draft.note(f"{entry.relative}: only the first and the last {half} were read{between}")
    if is_notebook(data[:4096]):
        try:
            return clean_lines(notebook_text(data).encode())
        except FormatError as error:
            draft.note(f"{entry.relative}: {error}")
            return []
    # What people write into a report may be HTML: its rows stand after the text, whose lines keep their numbers.
    rows = html_rows(decode(data)).encode() if b"</tr>" in data else b""
    return clean_lines(data) + clean_lines(rows)
