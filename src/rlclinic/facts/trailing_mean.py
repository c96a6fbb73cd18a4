"""What the episodes between two rows came to, where a mean over the last 100 episodes is logged.

Such a mean tells late what the agent does: in a run of 150 episodes it never leaves the beginning behind. The sum of
a window is that of the row before, plus the new episodes, minus those that left it, and what left it is known from
earlier rows. How many are new is logged, or follows from their lengths, of which the same mean is logged. A monitor
beside the log has the episodes themselves.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace

import numpy as np

from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series

# Windows from which on a run is so long that the lag does not matter.
MANY_WINDOWS = 10.0
# Rows are taken together until they hold so many new episodes, where their number is not logged.
FEWEST_EPISODES = 5.0
# Parts of the run that are told apart at most.
PARTS = 60.0
FEWEST_ROWS = 6
# Share of its range by which a printed return may be wrong in a part, from rounding alone.
ROUGH = 0.05
MAX_DIGITS = 6
_WINDOW = re.compile(r"last (\d{1,5}) episodes")


@fact
def recent_returns(facts: RunFacts) -> Series | None:
    """The training return of a short run without the lag of its mean; None where it has none, or nobody can tell."""
    mean, lengths = facts.series("return/train"), facts.series("episode_length")
    found = _WINDOW.search(mean.window) if mean is not None else None
    if mean is None or found is None or mean.caveat or mean.axis != "env_steps":
        return None
    window, episodes = float(found[1]), facts.run.episodes
    name = f"the mean of the episodes behind {mean.logged_as}"
    if episodes is not None and FEWEST_ROWS <= len(episodes) <= MANY_WINDOWS * window:
        steps, values = episodes.end_steps, episodes.returns
    else:
        rows = _Rows.of(mean, lengths, facts.series("episodes")) if lengths is not None else None
        parts = _undone(rows, window) if rows is not None else None
        if parts is None:
            return None
        steps, values = parts
    return replace(mean, logged_as=name, steps=steps, values=values, wall_times=None, window="")


@dataclass(frozen=True, slots=True)
class _Rows:
    steps: FloatArray
    returns: FloatArray
    lengths: FloatArray
    episodes: FloatArray | None
    """How many had ended, where that is logged."""

    @classmethod
    def of(cls, mean: Series, lengths: Series, episodes: Series | None) -> _Rows | None:
        """The rows that have all numbers; None where they are too few, or not of one training."""
        kept = np.isfinite(mean.values)
        steps, returns = mean.steps[kept], mean.values[kept]
        each = _at(lengths, steps)
        if steps.size < FEWEST_ROWS or not (np.diff(steps) > 0).all() or each is None or each.min() <= 0:
            return None
        return cls(steps, returns, each, None if episodes is None else _at(episodes, steps))


def _at(series: Series, steps: FloatArray) -> FloatArray | None:
    """What the same rows say of another number; None where some do not."""
    kept = np.isfinite(series.values) & np.isin(series.steps, steps)
    return series.values[kept] if np.array_equal(series.steps[kept], steps) else None


@dataclass(slots=True)
class _Part:
    episodes: float
    length: float
    value: float


def _undone(rows: _Rows, window: float) -> tuple[FloatArray, FloatArray] | None:
    # Episodes whose lengths are alike: a first guess is enough to tell a short run and the size of its parts.
    total = rows.episodes[-1] if rows.episodes is not None else rows.steps[-1] / rows.lengths.min()
    if total > MANY_WINDOWS * window:
        return None
    fewest = 1.0 if rows.episodes is not None else FEWEST_EPISODES
    rounding = _unit(rows.returns) * min(window, total) / max(ROUGH * float(np.ptp(rows.returns)), 1e-12)
    least = max(fewest, total / PARTS, min(rounding, window))
    known: deque[_Part] = deque()
    held, last = 0.0, -1
    steps, values = [], []
    for row in range(rows.steps.size):
        new = _new_episodes(rows, row, last, held, known, window)
        if new < least and not (row == rows.steps.size - 1 and new >= fewest):
            continue
        if new >= window or last < 0:
            known.clear()
            held = min(new, window)
            known.append(_Part(held, float(rows.lengths[row]), float(rows.returns[row])))
        else:
            left, now = _take(known, max(0.0, held + new - window)), min(window, held + new)
            value = (now * rows.returns[row] - held * rows.returns[last] + left.value) / new
            length = (now * rows.lengths[row] - held * rows.lengths[last] + left.length) / new
            known.append(_Part(new, float(length), float(value)))
            held = now
        steps.append(rows.steps[row])
        values.append(known[-1].value)
        last = row
    return (np.array(steps), np.array(values)) if len(values) >= FEWEST_ROWS else None


def _new_episodes(rows: _Rows, row: int, last: int, held: float, known: deque[_Part], window: float) -> float:
    """How many episodes ended since the row before."""
    if rows.episodes is not None:
        return float(rows.episodes[row] - (rows.episodes[last] if last >= 0 else 0.0))
    taken, length = float(rows.steps[row] - (rows.steps[last] if last >= 0 else 0.0)), float(rows.lengths[row])
    sums = held * float(rows.lengths[last]) + taken if last >= 0 else taken
    if sums / length <= window:
        return sums / length - held
    # So many steps left the window; they are those of its oldest episodes.
    gone, count = sums - window * length, 0.0
    for part in known:
        some = min(part.episodes, gone / max(part.length, 1.0))
        count, gone = count + some, gone - some * part.length
        if gone <= 0:
            return count + window - held
    return max(window, taken / length)


def _take(known: deque[_Part], count: float) -> _Part:
    """Take the oldest episodes out; their lengths and returns added up."""
    total = _Part(count, 0.0, 0.0)
    while count > 0 and known:
        some = min(known[0].episodes, count)
        total.length, total.value = total.length + some * known[0].length, total.value + some * known[0].value
        count, known[0].episodes = count - some, known[0].episodes - some
        if known[0].episodes <= 0:
            known.popleft()
    return total


def _unit(values: FloatArray) -> float:
    """The last digit that is printed; zero where all are."""
    for digits in range(MAX_DIGITS):
        if np.abs(values - np.round(values, digits)).max() < 1e-9 * max(1.0, float(np.abs(values).max())):
            return 10.0**-digits
    return 0.0
