"""What every console parser hands back, and the small readings they share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from rlclinic.model.lazy_dataclass import dataclass

# A row that prints this many values, all with the same number of decimals, was printed with a fixed format.
FIXED_FORMAT_MIN_VALUES = 3

# Notes kept per dialect; a log cut everywhere would repeat one for every line.
MAX_PROBLEMS = 20

# Weights & Biases cuts the lines of its output.log to this many characters.
CUT_WIDTH = 4096

# Keys of a validation pass, which trainers print a second time for the step they belong to.
VALIDATION_KEY = re.compile(r"val[-_/]|validation|test_score|eval")

_WRAPPED = re.compile(r"(?:np|numpy|torch)?\.?(?:float|int|uint|bool|tensor)[\d_]*\((.*)\)", re.DOTALL)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_DECIMALS = re.compile(r"[-+]?\d+\.(\d+)")
_WORDS = {"True": 1.0, "False": 0.0}


@dataclass(frozen=True, slots=True)
class ConsoleRows:
    """The metric rows of one dialect, in file order."""

    dialect: str
    axis: str
    """What the step counts: updates, env_steps, epochs, or rows where nothing better is printed."""
    steps: tuple[int, ...]
    rows: tuple[Mapping[str, float], ...]
    lines: tuple[int, ...]
    """The 1-based line of each row."""
    decimals: Mapping[str, int]
    """Decimals of the keys printed with a fixed number of them: a printed 0.000 is not zero."""
    problems: tuple[str, ...]


@dataclass(slots=True)
class ConsoleRow:
    """One row while it is being read."""

    step: int
    line: int
    values: dict[str, float]
    printed: dict[str, str] = field(default_factory=dict)
    """The digits as printed, for the keys whose format matters."""


def console_rows(
    dialect: str,
    axis: str,
    rows: Sequence[ConsoleRow],
    *,
    decimals: Mapping[str, int] | None = None,
    problems: Iterable[str] = (),
) -> ConsoleRows:
    """Freeze what a parser read; rows repeated for one step are joined first."""
    joined = join_repeats(rows)
    return ConsoleRows(
        dialect=dialect,
        axis=axis,
        steps=tuple(row.step for row in joined),
        rows=tuple(row.values for row in joined),
        lines=tuple(row.line for row in joined),
        decimals=dict(decimals or {}),
        problems=_capped(list(problems)),
    )


def join_repeats(rows: Sequence[ConsoleRow]) -> list[ConsoleRow]:
    """Join neighbours of the same step, unless they disagree: then the run printed the step twice."""
    joined: list[ConsoleRow] = []
    for row in rows:
        if joined and joined[-1].step == row.step and agree(joined[-1].values, row.values):
            last = joined[-1]
            joined[-1] = ConsoleRow(last.step, last.line, last.values | row.values, last.printed | row.printed)
        else:
            joined.append(row)
    return joined


def agree(old: Mapping[str, float], new: Mapping[str, float]) -> bool:
    """Whether the two have no key with different values, validation aside: that may be run once more."""
    return all(
        key not in old or old[key] == value or (old[key] != old[key] and value != value)
        for key, value in new.items()
        if not VALIDATION_KEY.match(key)
    )


def read_number(text: str) -> float | None:
    """A printed number: 0.5, -0.000, nan, inf, np.float64(0.5), tensor(0.5, device='cuda:0'), True."""
    text = text.strip()
    if text.endswith(")"):
        wrapped = _WRAPPED.fullmatch(text)
        if wrapped is None:
            return None
        text = wrapped.group(1).partition(",")[0].strip()
    if text in _WORDS:
        return _WORDS[text]
    if "_" in text:  # float() takes 1_000, no trainer prints it
        return None
    try:
        return float(text)
    except ValueError:
        return None


def as_number(value: object) -> float | None:
    """The number in a parsed value; newer Hugging Face trainers print numbers as strings."""
    if isinstance(value, str):
        return read_number(value)
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def numbers_of(values: Mapping[object, object]) -> dict[str, float]:
    """The entries of a parsed dict that are numbers."""
    found = {str(key): as_number(value) for key, value in values.items()}
    return {key: number for key, number in found.items() if number is not None}


def printed_decimals(text: str) -> int | None:
    """How many decimals a plain decimal number shows; None for any other notation."""
    match = _DECIMALS.fullmatch(text.strip())
    return len(match.group(1)) if match else None


def decimals_by_key(rows: Sequence[ConsoleRow]) -> dict[str, int]:
    """Per key the number of decimals, where each of its values was printed with the same number."""
    seen: dict[str, set[int | None]] = {}
    for row in rows:
        for key, text in _finite(row).items():
            seen.setdefault(key, set()).add(printed_decimals(text))
    return _agreed(seen)


def decimals_by_row(rows: Sequence[ConsoleRow]) -> dict[str, int]:
    """Per key the number of decimals, where each row it stands in was printed with one fixed format.

    A key alone does not tell: a coefficient of 0.001 shows three decimals in full precision too. A row too
    short to tell follows the others when they agree.
    """
    formats = [{printed_decimals(text) for text in _finite(row).values()} for row in rows]
    long = [len(_finite(row)) >= FIXED_FORMAT_MIN_VALUES for row in rows]
    common = {frozenset(counts) for counts, enough in zip(formats, long, strict=True) if enough}
    seen: dict[str, set[int | None]] = {}
    for row, counts, enough in zip(rows, formats, long, strict=True):
        fixed = next(iter(counts)) if len(counts) == 1 and (enough or common == {frozenset(counts)}) else None
        for key in row.printed:
            seen.setdefault(key, set()).add(fixed)
    return _agreed(seen)


def _finite(row: ConsoleRow) -> dict[str, str]:
    """What is printed, but for `nan` and `inf`, which look the same in every format."""
    return {key: text for key, text in row.printed.items() if not _NOT_FINITE.fullmatch(text.strip())}


def _capped(problems: list[str]) -> tuple[str, ...]:
    left_out = len(problems) - MAX_PROBLEMS
    return tuple(problems) if left_out <= 0 else (*problems[:MAX_PROBLEMS], f"{left_out} more notes like these")


def _agreed(seen: Mapping[str, set[int | None]]) -> dict[str, int]:
    agreed = {key: next(iter(counts)) for key, counts in seen.items() if len(counts) == 1}
    return {key: count for key, count in agreed.items() if count is not None}
