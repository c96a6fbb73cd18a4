"""Whether a file of no special name holds metrics, by a look at its first bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import PurePath

import numpy as np

from rlclinic.model.series import FloatArray
from rlclinic.readers.consoles import Console, ConsoleRows
from rlclinic.readers.consoles.rows import agree
from rlclinic.readers.formats.logs.log_text import clean_lines
from rlclinic.readers.formats.logs.notebook import is_notebook
from rlclinic.readers.formats.tables.csv_table import read_csv, read_csv_file
from rlclinic.readers.formats.tables.json_lines import looks_like_json_lines
from rlclinic.readers.named_by_file import metric_of_file
from rlclinic.readers.parts.logs import HOME_MADE
from rlclinic.readers.parts.tables import has_numbers, is_plain_text, lists_of, named_by_file
from rlclinic.readers.place import Entry
from rlclinic.readers.reading import parsed_once
from rlclinic.readers.words import english
from rlclinic.reference.framework import framework

HEAD = 64 << 10
TABLES = (".csv", ".tsv")
LOGS = (".log", ".out")
# Texts of all kinds: only rows of metrics make one a log.
PLAIN = ".txt"
TEXTS = (PLAIN, ".dat", ".md")
ENOUGH_ROWS = 3
TRACEBACK = b"Traceback (most recent call last)"
# Names that make a table of numbers a log of reinforcement learning.
_TELLING = re.compile(
    r"rew|return|ret$|score|fitness|win_?rate|ep_?len|episod|loss|entropy|kl|timestep|global_?step", re.IGNORECASE
)
_SCORE = re.compile(r"rew|return|score", re.IGNORECASE)
# Tables of one training that share their columns.
_PARTS = re.compile(r"eval|test|val|train|agent|player", re.IGNORECASE)


def is_metric_file(entry: Entry) -> bool:
    """Whether a table, JSON-lines file, log or notebook holds metrics of a training run."""
    suffix = PurePath(entry.name).suffix or PLAIN
    if suffix not in (*TABLES, *LOGS, *TEXTS, ".jsonl", ".ipynb"):
        return False
    try:
        head = entry.head(HEAD)
    except OSError:
        return False
    if suffix in TABLES:
        # A small table is read but once.
        table = parsed_once(read_csv_file, entry) if entry.size <= len(head) else read_csv(head)
        names = named_by_file(lists_of(entry) or table, entry.name).columns
        return any(_is_telling(name) for name in names) and (len(names) > 1 or bool(metric_of_file(entry.name)))
    if suffix == ".jsonl":
        return looks_like_json_lines(head) and bool(_TELLING.search(head.decode("utf-8", "replace")))
    if suffix in LOGS:
        return parsed_once(head_console, entry).has_metrics or TRACEBACK in head
    if entry.name == "scores.txt" or (is_plain_text(entry.name) and has_numbers(entry)):
        return True
    if suffix in TEXTS:
        enough = 1 if suffix == PLAIN else ENOUGH_ROWS
        if suffix == PLAIN and TRACEBACK in head:
            return True
        return any(len(rows.rows) >= enough for rows in parsed_once(head_console, entry).rows)
    return suffix == ".ipynb" and is_notebook(head)


def head_console(entry: Entry) -> Console:
    """What a console shows in its first bytes."""
    return Console(clean_lines(entry.head(HEAD)))


def head_rows(entry: Entry) -> ConsoleRows | None:
    """The first rows that a trainer printed; those of a home-made console count anything."""
    found = parsed_once(head_console, entry).rows
    return found[0] if found and found[0].dialect not in HOME_MADE else None


def contradict(consoles: Sequence[ConsoleRows]) -> bool:
    """Whether two of them print different scores for one step: they are of two trainings, not two parts of one."""
    counted = [(steps, rows.rows) for rows in consoles if (steps := _counted(rows))]
    by_step = [
        {step: {name: value for name, value in row.items() if _SCORE.search(name)} for step, row in pairs}
        for pairs in (zip(steps, rows, strict=True) for steps, rows in counted if len(counted) > 1)
    ]
    return any(
        not agree(one[step], other[step])
        for one, other in combinations(by_step, 2)
        for step in one.keys() & other.keys()
    )


def rival_tables(entries: Sequence[Entry]) -> list[str]:
    """Tables of which one has all columns of another, counts the same steps and tells other returns: trainings."""
    heads = [(entry, read_csv(entry.head(HEAD))) for entry in entries if not _PARTS.search(entry.name)]
    found: set[str] = set()
    for (one, first), (other, second) in combinations(heads, 2):
        fewer, more = sorted((first.numbers, second.numbers), key=len)
        if fewer.keys() <= more.keys() and any(_rival(fewer, more, name) for name in fewer if _SCORE.search(name)):
            found |= {one.name, other.name}
    return sorted(found)


def _rival(one: Mapping[str, FloatArray], other: Mapping[str, FloatArray], score: str) -> bool:
    """Whether they have other scores for the steps that they share, by a column that counts in both."""
    for name in one:
        # The last row may be cut.
        steps, others = one[name][:-1], other[name][:-1]
        if name == score or not all((np.diff(counts) >= 0).all() for counts in (steps, others)):
            continue
        _, left, right = np.intersect1d(steps, others, return_indices=True)
        mine, yours = one[score][left], other[score][right]
        told = np.isfinite(mine) & np.isfinite(yours)
        if told.sum() >= ENOUGH_ROWS:
            return bool((mine != yours)[told].all())
    return False


def _counted(rows: ConsoleRows) -> Sequence[Hashable]:
    """The step of each row; of rows that tell none their epochs since the first, where these grow; else nothing."""
    if rows.axis != "rows":
        return rows.steps
    epochs = [row.get("epoch", math.nan) for row in rows.rows]
    # The second part of a training begins at another epoch.
    grow = len(epochs) > 1 and all(before < after for before, after in pairwise(epochs))
    return [(epochs[0], epoch) for epoch in epochs] if grow else []


def _is_telling(name: str) -> bool:
    return framework("common").metrics.find(name) is not None or bool(_TELLING.search(english(name)))
