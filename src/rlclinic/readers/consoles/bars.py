"""The console of prime-rl: `Step 12 | 42.5s | Loss -0.0003 | Entropy 0.3717 | LR 1.00e-06`.

The trainer and the orchestrator each print such lines, often into one file and not in step with each other.
Older versions put a colon after each name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise
from typing import TypeVar

from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows, decimals_by_key

T = TypeVar("T")

# Names of which a line must show one; a "Step 3 | copy files" of another program shows none.
TRAINER_NAMES = frozenset({"Loss"})
ORCHESTRATOR_NAMES = frozenset({"Reward"})
MIN_VALUES = 2

_STEP = re.compile(r"(?<!Micro )\bStep (\d{1,15}) \| ")
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf)"
_FIELD = re.compile(rf"([A-Za-z][^|:\d]{{0,40}}?):? ({_NUMBER})(%?)(?![\d.])(.{{0,60}})")
_RATIO = re.compile(r"/(\d+)(?: \(.*%\))?\s*")
_DURATION = re.compile(r"(?:(\d+)d ?)?(?:(\d+)h ?)?(?:(\d+)m ?)?(?:(\d+(?:\.\d+)?)s)?")
_SECONDS = (86_400.0, 3_600.0, 60.0, 1.0)


def parse_bars(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of a prime-rl console; empty if there are none. Percentages are given as fractions."""
    trainer: list[ConsoleRow] = []
    orchestrator: list[ConsoleRow] = []
    for number, line in enumerate(lines, start=1):
        match = _STEP.search(line) if "Step " in line else None
        if match is None:
            continue
        row = ConsoleRow(int(match.group(1)), number, {})
        for part in line[match.end() :].split(" | "):
            _read_field(part.strip(" |"), row)
        if len(row.values) < MIN_VALUES:
            continue
        if TRAINER_NAMES & row.values.keys():
            trainer.append(row)
        elif ORCHESTRATOR_NAMES & row.values.keys():
            orchestrator.append(row)
    rows = _side_by_side(trainer, orchestrator) if trainer and orchestrator else trainer or orchestrator
    return (console_rows("prime-rl", "updates", rows, decimals=decimals_by_key(rows)),) if rows else ()


def _side_by_side(trainer: Sequence[ConsoleRow], orchestrator: Sequence[ConsoleRow]) -> list[ConsoleRow]:
    """One row per step; what both report, such as their times, is told apart by name."""
    shared = {name for row in trainer for name in row.values} & {name for row in orchestrator for name in row.values}
    renamed = [
        ConsoleRow(row.step, row.line, _renamed(row.values, shared), _renamed(row.printed, shared))
        for row in orchestrator
    ]
    resumed = any(later.step <= earlier.step for rows in (trainer, orchestrator) for earlier, later in pairwise(rows))
    # They run ahead of each other, so that only steps put them in order; a resumed run repeats steps.
    return sorted([*trainer, *renamed], key=lambda row: row.line if resumed else row.step)


def _renamed(values: Mapping[str, T], shared: Set[str]) -> dict[str, T]:
    return {f"Orchestrator {name}" if name in shared else name: value for name, value in values.items()}


def _read_field(text: str, row: ConsoleRow) -> None:
    name, _, rest = text.partition(":")
    seconds = _duration(text) if not rest else _duration(rest.strip())
    if seconds is not None:
        row.values[name.strip() if rest else "Time"] = seconds
        return
    match = _FIELD.fullmatch(text)
    if match is None:
        return
    name, digits, percent, rest = match.groups()
    value = float(digits)
    ratio = _RATIO.fullmatch(rest)
    if ratio and float(ratio.group(1)):
        value /= float(ratio.group(1))
    elif percent:
        value /= 100.0
    else:
        row.printed[name] = digits
    row.values[name] = value


def _duration(text: str) -> float | None:
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return None
    return sum(float(part) * unit for part, unit in zip(match.groups(), _SECONDS, strict=True) if part)
