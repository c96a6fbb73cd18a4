"""Rows of a Hugging Face trainer (TRL, Unsloth, ms-swift): which printed dicts are rows, and of which step.

The dict seldom holds its step. It is taken from the dict, else from the training bar in front of it, else the
rows are only numbered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite, nan

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.progress_bars import bar_steps, evenly_spaced_steps
from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows

# A metrics dict has at least this many numbers and holds little else.
MIN_NUMBERS = 3
MIN_NUMBER_SHARE = 0.6

# One of these words stands in a key of every trainer's row.
TRAINING_WORDS = ("loss", "reward", "return", "kl", "entropy", "grad_norm", "learning_rate", "accuracy")

# Keys that hold the step, and what they count.
STEP_KEYS = {
    "global_step/max_steps": "updates",
    "global_step": "updates",
    "train/global_step": "updates",
    "step": "updates",
    "total_timesteps": "env_steps",
    "timesteps_total": "env_steps",
    "num_timesteps": "env_steps",
    "timesteps": "env_steps",
}

# Hugging Face trainers round these two before they print them.
ROUNDED = {"loss": 4, "epoch": 2}
MIN_ROWS_TO_CALL_ROUNDED = 3

# How far the epoch of a row may be from an even spacing: a share of the distance, and half its last digit.
MAX_UNEVENNESS = 0.25
EPOCH_ROUNDING = 0.006


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A dict printed alone on a line."""

    line: int
    parsed: Mapping[object, object]
    values: dict[str, float]


def trainer_rows(lines: Sequence[str], printed: Sequence[PrintedRow], problems: Sequence[str]) -> ConsoleRows | None:
    """The dicts that are metric rows; None if none is."""
    rows = _metric_rows(printed)
    if not rows:
        return None
    training = [row for row in rows if not _belongs_to_last(row)]
    axis, steps, step_key = _steps(lines, training)
    following = iter(steps)
    joined: list[ConsoleRow] = []
    for row in rows:
        values = {key: value for key, value in row.values.items() if key != step_key}
        if not _belongs_to_last(row):
            joined.append(ConsoleRow(next(following), row.line, values))
        elif joined:
            joined[-1].values.update({key: value for key, value in values.items() if key != "epoch"})
        else:  # an evaluation before the first update
            joined.append(ConsoleRow(0, row.line, values))
    return console_rows("dict", axis, joined, decimals=_rounded(training), problems=problems)


def _metric_rows(printed: Sequence[PrintedRow]) -> list[PrintedRow]:
    """Rows, not configs: mostly numbers, with a trainer's words, printed again and again with new values."""
    likely = [row for row in printed if _mostly_numbers(row) and _has_training_word(row)]
    seen = Counter(key for row in likely for key in row.values)
    texts = [repr(row.values) for row in likely]  # unlike the values, nan is the same as nan
    varied = len(set(texts)) > 1
    rows: list[PrintedRow] = []
    for row, text, before in zip(likely, texts, ["", *texts], strict=False):
        recurring = sum(seen[key] > 1 for key in row.values) >= len(row.values) / 2
        if text != before and ("epoch" in row.values or (recurring and varied)):
            rows.append(row)
    return rows


def _mostly_numbers(row: PrintedRow) -> bool:
    return len(row.values) >= MIN_NUMBERS and len(row.values) >= MIN_NUMBER_SHARE * len(row.parsed)


def _has_training_word(row: PrintedRow) -> bool:
    return any(word in key.lower() for key in row.values for word in TRAINING_WORDS)


def _belongs_to_last(row: PrintedRow) -> bool:
    """An evaluation or the closing summary: it reports on the step printed before it."""
    own = [key for key in row.values if key != "epoch"]
    return "train_runtime" in row.values or all(key.startswith("eval_") for key in own)


def _steps(lines: Sequence[str], training: Sequence[PrintedRow]) -> tuple[str, list[int], str | None]:
    """What the steps count, the step of each row, and the key that held it."""
    for key, axis in STEP_KEYS.items():
        steps = [_own_step(row, key) for row in training]
        known = [step for step in steps if step is not None]
        if training and len(known) == len(training):
            return axis, known, key
    numbers = [row.line for row in training]
    shown = bar_steps(lines, numbers)
    if shown is None and _evenly_spaced(training):
        shown = evenly_spaced_steps(lines, numbers)
    if shown is not None:
        return "updates", shown, None
    return "rows", list(range(1, len(training) + 1)), None


def _evenly_spaced(training: Sequence[PrintedRow]) -> bool:
    """Whether the epochs grow by the same amount from row to row; a first row printed early breaks that."""
    epochs = [row.values.get("epoch", nan) for row in training]
    if not epochs:
        return False
    distance = epochs[-1] / len(epochs)
    allowed = MAX_UNEVENNESS * distance + EPOCH_ROUNDING
    return all(abs(epoch - index * distance) <= allowed for index, epoch in enumerate(epochs, start=1))


def _own_step(row: PrintedRow, key: str) -> int | None:
    value = row.parsed.get(key)
    text = value.partition("/")[0].strip() if isinstance(value, str) else ""
    if text.isascii() and text.isdigit() and len(text) <= 15:
        return int(text)
    number = row.values.get(key)
    return int(number) if number is not None and number.is_integer() and 0 <= number < 1e15 else None


def _rounded(training: Sequence[PrintedRow]) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, digits in ROUNDED.items():
        values = [value for row in training if isinstance(value := row.parsed.get(key), float) and isfinite(value)]
        if len(values) >= MIN_ROWS_TO_CALL_ROUNDED and all(round(value, digits) == value for value in values):
            found[key] = digits
    return found
