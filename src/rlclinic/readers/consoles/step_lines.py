"""The console of verl and of Search-R1: `step:12 - actor/pg_loss:0.013 - critic/score/mean:0.512 - ...`.

Also read: the same metrics pasted one per line, lines wrapped at a terminal's width, the dict of the first
and last validation, and Search-R1's position lines (`epoch 0, step 12`, `ACTIVE_TRAJ_NUM: [512, 480, 77]`, and
`Round 1: invalid draft format count = 12/256` of a fork), which are all that is left when the metrics went to a tracker
alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.rows import (
    CUT_WIDTH,
    ConsoleRow,
    ConsoleRows,
    console_rows,
    decimals_by_row,
    read_number,
)
from rlclinic.readers.consoles.validation_dicts import VALIDATION, read_validation

# First part of a metric's name in verl; a row needs one of these, or ENOUGH_NAMES names with a slash, so that
# "step:1 - library/image:22" in another program's log is not taken for a row.
_FAMILIES = """
    actor critic train training val val-core val-aux reward response response_length prompt_length rollout
    global_seqlen timing timing_s timing_per_token_ms perf mfu env state_tokens num_turns mismatch
    rollout_corr tool_call_counts response_length_non_aborted
"""
METRIC_FAMILIES = frozenset(_FAMILIES.split())
ENOUGH_NAMES = 3

# Share of a line's parts that must be name:number; interleaved output may break a few.
READABLE_SHARE = 0.6

# Longest paste of one metric per line, and most physical lines of one wrapped line.
MAX_PASTED_LINES = 2000

# In timing_s/step:12 and training/global_step:12 the word is the end of a metric's name.
_STEP = re.compile(r"(?<![A-Za-z_/])step:(\d{1,15}) - ")
_LONE_STEP = re.compile(r"\s*(?:- )?step:(\d{1,15})(?: -)?\s*")
_PASTED = re.compile(r"\s*(?:- )?([^\s:][^\s]{0,300}):(\S{1,60}?)(?: -)?\s*")
_NAME = re.compile(r"[\w.@()\-]{1,80}(?:/[^:]{1,300}|/[^:]*:[^:]{1,200})?")
_GLUED = re.compile(r"([^\s:]{1,300}):((?:np\.\w{1,12}\()?[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf)\)?)")
_CONTINUES = re.compile(
    r"(?:^|\s)- [^\s:/]{1,100}/[^\s:]{1,300}:(?:np\.|[-+]?\d|nan|inf)|\S - [^\s:/]{1,100}/[^\s:]{1,300}:?$"
)
_FRAGMENT = re.compile(r"[\w/@.():+\-]{1,300}")
_RESUMED = re.compile(r"Setting global step to (\d{1,15})")
_POSITION = re.compile(r"epoch (\d{1,9}), step (\d{1,15})\s*")
_ACTIVE = re.compile(r"ACTIVE_TRAJ_NUM: \[([\d, ]{1,2000})\]")
_INVALID = re.compile(r"Round (\d{1,3}): invalid draft format count = (\d{1,9})/(\d{1,9})")


@dataclass(slots=True)
class _Reading:
    rows: list[ConsoleRow] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    start: int = 0
    """The step training starts from; a resumed run validates there first."""
    positions: list[ConsoleRow] = field(default_factory=list)
    rollouts_seen: bool = False


def parse_step_lines(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of a verl or Search-R1 console; empty if there are none."""
    reading = _Reading()
    index = 0
    while index < len(lines):
        line = lines[index]
        if "step:" in line:
            index += _read_step(lines, index, reading)
            continue
        if "validation metrics:" in line:
            index += _read_validation(lines, index, reading)
            continue
        _read_position(line, index, reading)
        index += 1
    if reading.rollouts_seen:
        reading.rows = _with_positions(reading.rows, reading.positions)
    if not reading.rows:
        return ()
    decimals = decimals_by_row([row for row in reading.rows if row.printed])
    return (console_rows("verl", "updates", reading.rows, decimals=decimals, problems=reading.problems),)


def _read_step(lines: Sequence[str], index: int, reading: _Reading) -> int:
    """Read the step that starts here; return how many lines it took."""
    lone = _LONE_STEP.fullmatch(lines[index])
    if lone:
        return _read_pasted(lines, index, int(lone.group(1)), reading)
    if not _STEP.search(lines[index]):
        return 1
    text, used = _unwrapped(lines, index)
    starts = list(_STEP.finditer(text))
    for start, end in zip(starts, [*(match.start() for match in starts[1:]), len(text)], strict=True):
        row = ConsoleRow(int(start.group(1)), index + 1, {})
        parts = text[start.end() : end].split(" - ")
        cut = len(lines[index + used - 1]) == CUT_WIDTH and end == len(text)
        for part in parts[:-1] if cut else parts:
            _read_part(part, row)
        if len(row.values) < READABLE_SHARE * len(parts) or not _looks_like_verl(row):
            continue
        if cut:
            reading.problems.append(f"line {index + 1}: cut at {CUT_WIDTH} characters, the metrics after it are lost")
        elif len(row.values) < len(parts):
            reading.problems.append(f"line {index + 1}: metrics not readable: {len(parts) - len(row.values)}")
        elif index + used == len(lines) and end == len(text):
            _drop_torn_end(row, reading)
        if row.values:
            reading.rows.append(row)
    return used


def _read_part(part: str, row: ConsoleRow) -> None:
    name, _, value = part.rpartition(":")
    number = read_number(value)
    if number is None:  # other output follows on the same line
        glued = _GLUED.match(part)
        if not glued:
            return
        name, value = glued.groups()
        number = read_number(value)
    name = name.strip()
    if number is None or not _NAME.fullmatch(name):
        return
    row.values[name] = number
    row.printed[name] = value


def _looks_like_verl(row: ConsoleRow) -> bool:
    heads = [name.partition("/")[0] for name in row.values if "/" in name]
    return len(heads) >= ENOUGH_NAMES or any(head in METRIC_FAMILIES for head in heads)


def _unwrapped(lines: Sequence[str], index: int) -> tuple[str, int]:
    """The logical line that starts here, with the pieces a terminal's width cut it into put together."""
    pieces = [lines[index]]
    width = 0
    while index + len(pieces) < len(lines) and len(pieces) < MAX_PASTED_LINES:
        line = lines[index + len(pieces)]
        full = len(pieces) > 1 and len(lines[index + len(pieces) - 1]) == width
        fragment = full and (" - " in line or _FRAGMENT.fullmatch(line.strip()))
        if _STEP.search(line) or not (_CONTINUES.search(line) or fragment):
            break
        # A copied terminal line loses the blanks at its end.
        cut_at_blank = pieces[-1].endswith(" -") or line.startswith("- ")
        pieces.append(f" {line}" if cut_at_blank else line)
        width = max(width, len(line))
    return "".join(pieces), len(pieces)


def _read_pasted(lines: Sequence[str], index: int, step: int, reading: _Reading) -> int:
    row = ConsoleRow(step, index + 1, {})
    used = 1
    while index + used < len(lines) and used < MAX_PASTED_LINES:
        line = lines[index + used]
        match = _PASTED.fullmatch(line)
        number = read_number(match.group(2)) if match else None
        if match and number is not None and match.group(1) != "step":
            row.values[match.group(1)] = number
            row.printed[match.group(1)] = match.group(2)
        elif line.strip():
            break
        used += 1
    if not _looks_like_verl(row):
        return 1
    reading.rows.append(row)
    return used


def _drop_torn_end(row: ConsoleRow, reading: _Reading) -> None:
    """A file cut in the middle of its last line may have cut the last number too."""
    names = list(row.values)
    before = list(reading.rows[-1].values) if reading.rows else []
    if len(names) >= len(before) or names != before[: len(names)]:
        return
    row.values.pop(names[-1])
    row.printed.pop(names[-1])
    reading.problems.append(f"line {row.line}: torn last row, {len(row.values)} of {len(before)} metrics kept")


def _read_validation(lines: Sequence[str], index: int, reading: _Reading) -> int:
    match = VALIDATION.search(lines[index])
    if match is None:
        return 1
    found = read_validation(lines, index)
    reading.problems.extend(found.problems)
    last = reading.rows[-1].step if reading.rows else reading.start
    if found.values:
        step = reading.start if match.group(1) == "Initial" else last
        reading.rows.append(ConsoleRow(step, index + 1, found.values))
    return found.used


def _read_position(line: str, index: int, reading: _Reading) -> None:
    if "ACTIVE_TRAJ_NUM" in line:
        match = _ACTIVE.search(line)
        if match:
            counts = [float(part) for part in match.group(1).split(",") if part.strip().isdecimal()]
            _note(reading, {f"ACTIVE_TRAJ_NUM/{turn}": count for turn, count in enumerate(counts[:100])})
    elif "invalid draft format" in line:
        match = _INVALID.search(line)
        if match and (total := float(match.group(3))):
            _note(reading, {f"invalid_draft_format/round_{match.group(1)}": float(match.group(2)) / total})
    elif line.startswith("epoch "):
        match = _POSITION.fullmatch(line)
        if match:
            reading.positions.append(ConsoleRow(int(match.group(2)), index + 1, {"epoch": float(match.group(1))}))
    elif "Setting global step to" in line:
        match = _RESUMED.search(line)
        if match:
            reading.start = int(match.group(1))


def _note(reading: _Reading, values: dict[str, float]) -> None:
    """What a rollout says of itself; that of the same step again belongs to its validation pass."""
    reading.rollouts_seen = True
    if reading.positions and values.keys().isdisjoint(reading.positions[-1].values):
        reading.positions[-1].values.update(values)


def _with_positions(rows: Sequence[ConsoleRow], positions: Sequence[ConsoleRow]) -> list[ConsoleRow]:
    return sorted([*rows, *positions], key=lambda row: row.line)
