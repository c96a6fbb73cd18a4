"""The console of NeMo-RL: a headline per step, then bullets.

========================= Step 12/500 =========================
📊 Training Results:
  • Loss: 0.0123
  • Avg Reward: 0.4062
⏱️  Timing:
  • Total step time: 35.70s
📊 Validation Results:
    • Accuracy: 0.5120
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows, decimals_by_key

# Headlines whose bullets are numbers of a step. A model's own bulleted answer stands under none of them.
SECTIONS = ("Training Results:", "Validation Results:", "Timing:", "Performance Metrics:")
OPENING = ("Training Results:", "Validation Results:")

# Longest line that is a heading, in characters.
MAX_HEADING = 80

# A bullet that shows that the block is NeMo-RL's and not another program's results.
OWN_BULLETS = frozenset(
    [
        "Loss",
        "Policy Loss",
        "Generation KL Error",
        "Avg Reward",
        "Avg Total Reward",
        "Mean Generation Length",
        "Accuracy",
    ]
)

# Lines of other processes tolerated inside a block.
MAX_FOREIGN_LINES = 8

_STEP = re.compile(r"=+ Step (\d{1,15})(?:/(\d{1,15}))? =+")
_EPOCH = re.compile(r"=+ Epoch (\d{1,9})(?:/\d{1,9})? =+")
_VALIDATION_STEP = re.compile(r"[Ss]tarting validation at step (\d{1,15})")
_BULLET = re.compile(
    r"\s*[•\-*] ([^:]{1,120}): ([-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|nan|inf))(%?)(?:s|ms)?(?: [^:]{0,60})?\s*"
)


@dataclass(slots=True)
class _Reading:
    rows: list[ConsoleRow] = field(default_factory=list)
    step: int = 0
    before_epoch: int = 0
    """Steps of the epochs before this one: the headline counts within its epoch."""
    announced: bool = False
    """Whether a headline named the step of the next results."""
    open: bool = False
    foreign: int = 0


def parse_bullets(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of a NeMo-RL console; empty if there are none."""
    reading = _Reading()
    for number, line in enumerate(lines, start=1):
        if "=== " in line and _read_headline(line, reading):
            continue
        if "validation at step" in line:
            match = _VALIDATION_STEP.search(line)
            reading.step = int(match.group(1)) if match else reading.step
            reading.open = False
        elif ":" not in line:
            continue
        elif line.rstrip().endswith(SECTIONS) and len(line) < MAX_HEADING:
            _open_section(line, number, reading)
        elif reading.open:
            _read_bullet(line, reading)
    rows = [row for row in reading.rows if OWN_BULLETS & row.values.keys()]
    if not rows:
        return ()
    return (console_rows("nemo-rl", "updates", rows, decimals=decimals_by_key(rows)),)


def _read_headline(line: str, reading: _Reading) -> bool:
    stripped = line.strip()
    epoch = _EPOCH.fullmatch(stripped)
    step = _STEP.fullmatch(stripped)
    if epoch:
        reading.before_epoch = reading.step if int(epoch.group(1)) > 1 else 0
    if step:
        reading.step = reading.before_epoch + int(step.group(1))
        reading.announced = True
        reading.open = False
    return bool(epoch or step)


def _open_section(line: str, number: int, reading: _Reading) -> None:
    opening = line.rstrip().endswith(OPENING)
    if line.rstrip().endswith("Training Results:"):
        reading.step += not reading.announced
        reading.announced = False
    if opening:
        reading.rows.append(ConsoleRow(reading.step, number, {}))
    reading.open = bool(reading.rows) and (opening or reading.open)
    reading.foreign = 0


def _read_bullet(line: str, reading: _Reading) -> None:
    match = _BULLET.fullmatch(line)
    if match is None:
        reading.foreign += not line.lstrip().startswith(("•", "-", "*"))
        reading.open = reading.foreign <= MAX_FOREIGN_LINES
        return
    name, digits, percent = match.groups()
    row = reading.rows[-1]
    if name in row.values:
        return
    row.values[name] = float(digits) / 100.0 if percent else float(digits)
    if not percent:
        row.printed[name] = digits
