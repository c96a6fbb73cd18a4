"""Consoles that print a Python dict per step.

{'loss': 0.0043, 'reward': 0.72, 'kl': 0.08, 'epoch': 0.04}     TRL, Unsloth, any Hugging Face trainer
✨ Global step 12: {'policy_loss': 0.02, 'reward': 0.4}          OpenRLHF
step 12: {'train/loss': 0.1}, rollout 12: {'rollout/raw_reward': 0.4}, eval 12: {...}   slime
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.literal_dicts import read_dict
from rlclinic.readers.consoles.rows import CUT_WIDTH, ConsoleRow, ConsoleRows, agree, console_rows, numbers_of
from rlclinic.readers.consoles.trainer_dicts import PrintedRow, trainer_rows

# Text in front of the brace that is looked at.
MAX_PREFIX = 300

_OPENRLHF = re.compile(r"Global step (\d{1,15})(?: \[[^\]]{0,40}\])?: ?$")
_SLIME = re.compile(r"(?:^|[^\w])(step|train|rollout|perf|eval) (\d{1,15}): ?$")

# A dict alone, after a progress bar, or after a logger's stamp is a trainer's row; "kwargs: {'n': 1}" is not.
_PLAIN = re.compile(
    r"\s*+(?:\d++/\d++\s*+)?|.*(?:it/s|s/it)(?:, .{0,80})?\]\s*|\[?\d{4}-\d\d-\d\d.{0,200}[\]:>\-|]\s*"
    r"|\[?\d{4}-\d\d-\d\d[T ][\d:.,]{5,20}Z?\]?\s*|\[?(?:INFO|rank ?\d+)\b.{0,200}[\]:>\-|]\s*"
)


@dataclass(frozen=True, slots=True)
class _Record:
    """One numbered dict: what it reports on, its number, its numbers."""

    kind: str
    number: int
    line: int
    values: dict[str, float]


@dataclass(slots=True)
class _Found:
    openrlhf: list[ConsoleRow] = field(default_factory=list)
    slime: list[_Record] = field(default_factory=list)
    plain: list[PrintedRow] = field(default_factory=list)
    problems: dict[str, list[str]] = field(default_factory=lambda: {"openrlhf": [], "slime": [], "dict": []})


def parse_dict_lines(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of every console of this kind in the text."""
    found = _Found()
    for number, line in enumerate(lines, start=1):
        brace = line.find("{")
        start = 0
        while brace >= 0:
            start = _read_one(line, start, brace, number, found, last=number == len(lines))
            brace = line.find("{", start) if start else -1
    parsed = []
    if found.openrlhf:
        problems = found.problems["openrlhf"]
        parsed.append(console_rows("openrlhf", "updates", found.openrlhf, problems=problems))
    if found.slime:
        problems = found.problems["slime"]
        parsed.append(console_rows("slime", "updates", _slime_rows(found.slime), problems=problems))
    plain = trainer_rows(lines, found.plain, found.problems["dict"])
    return (*parsed, plain) if plain else tuple(parsed)


def _read_one(line: str, start: int, brace: int, number: int, found: _Found, *, last: bool) -> int:
    """Read the dict at this brace; return where the line goes on, or 0 if it holds nothing more to read."""
    prefix = line[max(start, brace - MAX_PREFIX) : brace]
    openrlhf = _OPENRLHF.search(prefix)
    slime = None if openrlhf else _SLIME.search(prefix)
    dialect = "openrlhf" if openrlhf else "slime" if slime else "dict"
    if dialect == "dict" and not (line.startswith(("'", '"'), brace + 1) and _PLAIN.fullmatch(prefix)):
        return 0
    read = read_dict(line, brace)
    if read is None:
        return 0
    values = numbers_of(read.values)
    if not read.whole and len(line) != CUT_WIDTH:
        if last:
            found.problems[dialect].append(f"line {number}: torn last row dropped")
        if last or dialect == "dict":  # an open brace mostly begins a config wrapped over lines
            return 0
    if not read.whole:
        problem = f"line {number}: dict not readable as a whole, {len(values)} numbers kept"
        found.problems[dialect].append(problem)
    if openrlhf and values:
        found.openrlhf.append(ConsoleRow(int(openrlhf.group(1)), number, values))
    elif slime and any("/" in key for key in values):
        found.slime.append(_Record(slime.group(1), int(slime.group(2)), number, values))
    elif dialect == "dict":
        found.plain.append(PrintedRow(number, read.values, values))
    return read.end


def _slime_rows(records: Sequence[_Record]) -> list[ConsoleRow]:
    """Join the records of one training step; rollouts are counted apart and may hold several steps."""
    trained = [record.number for record in records if record.kind in ("step", "train")]
    per_rollout = _steps_per_rollout(records, trained)
    rows: list[ConsoleRow] = []
    latest: dict[int, ConsoleRow] = {}
    for record in records:
        own = record.kind in ("step", "train")
        step = record.number if own else record.number * per_rollout
        row = latest.get(step)
        if row is not None and agree(row.values, record.values):
            row.values.update(record.values)
            continue
        latest[step] = ConsoleRow(step, record.line, dict(record.values))
        rows.append(latest[step])
    resumed = any(later < earlier for earlier, later in pairwise(trained))
    return rows if resumed else sorted(rows, key=lambda row: row.step)


def _steps_per_rollout(records: Sequence[_Record], trained: Sequence[int]) -> int:
    rollouts = [record.number for record in records if record.kind in ("rollout", "perf")]
    if not trained or not rollouts:
        return 1
    return max(1, -(-(max(trained) + 1) // (max(rollouts) + 1)))
