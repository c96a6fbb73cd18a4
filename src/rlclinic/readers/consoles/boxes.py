"""Boxed tables: Stable-Baselines3, OpenAI Baselines and Spinning Up.

    -----------------------------------        ---------------------------------------
    | rollout/           |            |        |             Epoch |               3 |
    |    ep_rew_mean     | 21.3       |        |      AverageEpRet |            12.3 |
    | time/              |            |        | TotalEnvInteracts |           1e+04 |
    |    total_timesteps | 2048       |        ---------------------------------------
    -----------------------------------

A box is told from a Markdown table by its rulers: bare dashes exactly as wide as the lines between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rlclinic.readers.consoles.eval_lines import read_eval_lines
from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows, join_repeats, read_number

# What a column counts, by the last part of its name, best first.
STEP_NAMES = {
    "total_timesteps": "env_steps",
    "total timesteps": "env_steps",
    "totalenvinteracts": "env_steps",
    "timesteps_so_far": "env_steps",
    "timestepssofar": "env_steps",
    "total_steps": "env_steps",
    "total steps": "env_steps",
    "timesteps": "env_steps",
    "steps": "env_steps",
    "nupdates": "updates",
    "n_updates": "updates",
    "iterations": "updates",
    "epoch": "epochs",
}

# A column must stand in this share of the boxes to be the step of all of them.
STEP_SHARE = 0.6

# Share of the boxes that may show the step of the one before.
MAX_REPEATED_STEPS = 0.2

# A box alone may be anything; two with these many columns in common are a log.
MIN_NUMBERS = 2
MIN_SHARED = 2

# Lines of other output tolerated between two lines of one box.
MAX_FOREIGN_LINES = 20

_SPINNINGUP = frozenset({"AverageEpRet", "TotalEnvInteracts", "EpRet"})
_RULER = re.compile(r"-{10,400}")
_CELLS = re.compile(r"\| (.{1,200}?) \|(?: (.{0,200}?))? \|")
_INDENT = "   "


def parse_boxes(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of boxed tables; empty if there are none."""
    boxes, grouped, problems = _boxes(lines)
    boxes = _recurring(boxes)
    evaluations = read_eval_lines(lines)
    if not boxes:
        return (console_rows("sb3-box", "env_steps", evaluations),) if evaluations else ()
    names = {name for box in boxes for name in box.values}
    dialect = "sb3-box" if grouped else "spinningup-box" if names & _SPINNINGUP else "baselines-box"
    axis, rows, notes = _placed(boxes)
    if axis == "env_steps":
        rows = _with_evaluations(rows, evaluations)
    return (console_rows(dialect, axis, rows, problems=[*problems, *notes]),)


def _boxes(lines: Sequence[str]) -> tuple[list[ConsoleRow], bool, list[str]]:
    """Every box as a row without a step, whether names are grouped under headings, and what was torn."""
    boxes: list[ConsoleRow] = []
    # The end of a log begins inside a box.
    top = lines[0].strip() if lines else ""
    open_box = ConsoleRow(0, 1, {}) if top.startswith("| ") else None
    width, foreign = len(top), 0
    heading = ""
    grouped = False
    problems: list[str] = []
    for number, raw in enumerate(lines, start=1):
        line = raw.strip() if raw[:1] in " -|" else raw
        if line.startswith("-") and _RULER.fullmatch(line):
            if open_box and open_box.values and abs(width - len(line)) <= 1:
                boxes.append(open_box)
                open_box = None
            else:
                open_box, width, foreign, heading = ConsoleRow(0, number, {}), len(line), 0, ""
            continue
        if open_box is None:
            continue
        fits = line.startswith("| ") and abs(len(line) - width) <= 1
        cells = _CELLS.fullmatch(line) if fits else None
        if cells is None:
            foreign += 1
            open_box = open_box if foreign <= MAX_FOREIGN_LINES else None
            continue
        foreign = 0
        name, value = cells.group(1), (cells.group(2) or "").strip()
        if not value:
            heading = name.strip() if name.strip().endswith("/") else ""
            grouped = grouped or bool(heading)
            continue
        number_read = read_number(value)
        if number_read is not None:
            inside = bool(heading) and name.startswith(_INDENT)
            open_box.values[(heading if inside else "") + name.strip()] = number_read
    if open_box and open_box.values:
        problems.append(f"line {open_box.line}: torn last box dropped")
    return boxes, grouped, problems


def _recurring(boxes: Sequence[ConsoleRow]) -> list[ConsoleRow]:
    """The boxes that share columns with another one, or that alone name a step count."""
    counted: dict[str, int] = {}
    for box in boxes:
        for name in box.values:
            counted[name] = counted.get(name, 0) + 1
    return [
        box
        for box in boxes
        if len(box.values) >= MIN_NUMBERS
        and (sum(counted[name] > 1 for name in box.values) >= MIN_SHARED or _step_name(box) is not None)
    ]


def _placed(boxes: Sequence[ConsoleRow]) -> tuple[str, list[ConsoleRow], list[str]]:
    """Give each box its step."""
    for last_part, axis in STEP_NAMES.items():
        placed = [
            ConsoleRow(int(step), box.line, box.values) for box in boxes if (step := _step(box, last_part)) is not None
        ]
        if len(placed) < STEP_SHARE * len(boxes) or _stands_still(placed):
            continue
        left_out = len(boxes) - len(placed)
        return axis, placed, [f"{left_out} boxes without a step count left out"] if left_out else []
    return "rows", [ConsoleRow(index, box.line, box.values) for index, box in enumerate(boxes, start=1)], []


def _with_evaluations(rows: Sequence[ConsoleRow], evaluations: Sequence[ConsoleRow]) -> list[ConsoleRow]:
    """Add what the evaluations printed to the box of their step, or in a row of their own."""
    placed = {row.step: row for row in rows}
    alone = [row for row in evaluations if row.step not in placed]
    for row in evaluations:
        if row.step in placed:
            placed[row.step].values.update(row.values)
    return sorted([*rows, *alone], key=lambda row: row.line)


def _step_name(box: ConsoleRow) -> str | None:
    last_parts = {name.rpartition("/")[2].lower() for name in box.values}
    return next((name for name in STEP_NAMES if name in last_parts and name != "steps"), None)


def _step(box: ConsoleRow, last_part: str) -> float | None:
    for name, value in box.values.items():
        if name.rpartition("/")[2].lower() == last_part and 0 <= value < 1e15:
            return value
    return None


def _stands_still(rows: Sequence[ConsoleRow]) -> bool:
    """Three printed digits cannot tell late steps apart: Spinning Up shows 1.02e+06 many times over."""
    joined = join_repeats(rows)
    repeats = sum(later.step == earlier.step for earlier, later in pairwise(joined))
    return repeats > MAX_REPEATED_STEPS * len(joined)
