"""The numbers of a run's files, bounded in one place, so that nobody behind it meets a number that overflows.

Trainers compute in float32, between 1e-45 and 3e38. What is larger than LARGEST counts as infinite, what is smaller
than SMALLEST as zero: the rest can be squared, multiplied and divided, and a ratio squared again, without leaving
float64. An infinite setting is shown, never computed with.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
from numpy.typing import ArrayLike, NDArray

TO_SIGMA = 1.4826
"""Standard deviation of a normal over its median absolute deviation."""
LARGEST = 1e75
SMALLEST = 1e-75
# Values of a table that are put together to be looked at at once.
SMALL = 50_000
# Unix seconds of the year 9999. A later time is no date: milliseconds were written for seconds.
_LARGE = re.compile(r"(?<![\w.])\d(?:\.\d+)?e\+0[1-9]\b")
# The same number twice, not merely one that begins like the other.
_UNMOVED = re.compile(r"\bwent from (-?\d\S*?) to \1(?=[\s,;:)]|\.(?!\d)|$)")
END_OF_TIME = 253_370_764_800.0


def number(value: object) -> float | None:
    """A value as a finite float within the bounds; None for anything else, truth values included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value) if abs(value) >= SMALLEST else 0.0


def number_in(text: str) -> float | None:
    """The number that a text writes, such as `1e-3`; None where it writes none."""
    try:
        return number(float(text))
    except ValueError:
        return None


def whole(value: int) -> int | float:
    """An integer as a parser found it; infinite where it is too large for float64."""
    return value if value.bit_length() < 1024 else math.copysign(math.inf, 1 if value > 0 else -1)


def bounded(value: object) -> object:
    """A value of a config with every number in it within the bounds; those beyond are infinite."""
    if isinstance(value, dict):
        return {key: bounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(bounded(item) for item in value)
    if not isinstance(value, int | float) or not value or SMALLEST <= abs(value) <= LARGEST or value != value:
        return value
    return 0.0 if abs(value) < SMALLEST else math.copysign(math.inf, 1 if value > 0 else -1)


def bounded_array(values: ArrayLike) -> NDArray[np.float64]:
    """The same of the values of a metric."""
    array = np.asarray(values, dtype=np.float64)
    size = np.abs(array)
    # Hardly any log has such a number: one look at both ends, and at zeros, is most of the work.
    if not size.size or (
        np.fmax.reduce(size, None) <= LARGEST
        and (
            np.fmin.reduce(size, None) >= SMALLEST
            or np.count_nonzero(size < SMALLEST) == size.size - np.count_nonzero(size)
        )
    ):
        return array
    large, small = size > LARGEST, (size < SMALLEST) & (size > 0)
    return np.where(large, np.copysign(np.inf, array), np.where(small, 0.0, array))


def bounded_columns(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """The same of the columns of a table; of a small one with a single look at all of them."""
    if columns and sum([column.size for column in columns.values()]) <= SMALL:
        whole = np.concatenate(list(columns.values()))
        if bounded_array(whole) is whole:
            return dict(columns)
    return {name: bounded_array(column) for name, column in columns.items()}


def moment(seconds: object) -> float | None:
    """Unix seconds that are a date; None for anything else."""
    value = number(seconds)
    return value if value is not None and 0 <= value < END_OF_TIME else None


def moments(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same of the times of a metric; NaN stands for what is no date."""
    return np.where((seconds >= 0) & (seconds < END_OF_TIME), seconds, np.nan)


def percent(share: float) -> str:
    """A share in percent; nothing is certain, so neither end is claimed."""
    if share != share:
        return "not known"
    if share < 0.005:
        return "under 1%"
    return "over 99%" if share > 0.995 else f"{100 * share:.0f}%"


def plain_numbers(text: str) -> str:
    """A sentence in which large numbers are written out, `2.49e+05` as 249,000, and what did not move stayed."""
    if "e+0" in text:
        text = _LARGE.sub(lambda found: f"{float(found[0]):,.0f}", text)
    return _UNMOVED.sub(r"stayed at \1", text) if "went from" in text else text


def date_text(seconds: object) -> str | None:
    """A time as ISO 8601 in UTC; None where it is no date."""
    at = moment(seconds)
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
