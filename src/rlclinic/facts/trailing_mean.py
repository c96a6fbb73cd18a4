"""What the episodes between two rows came to, where a mean over the last 100 episodes is logged.

Such a mean tells late what the agent does: in a run of 150 episodes it never leaves the beginning behind. The sum of
all returns so far is that of the window plus that of the episodes before it, which earlier rows tell. How many
episodes had ended is logged, or known where all are of one length. A monitor beside the log has the episodes
themselves.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from rlclinic.facts.returns import END_SHARE
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series

# Windows from which on a run is so long that the lag does not matter.
MANY_WINDOWS = 10.0
# Parts of the run that are told apart at most.
PARTS = 60.0
FEWEST_ROWS = 6
# Share of its range by which a printed return may be wrong in a part, from rounding alone.
ROUGH = 0.05
MAX_DIGITS = 6
# Parts at the end that tell its level, errors by which it must differ from the mean's, and share of the range.
FEWEST_LAST, SURELY, MATERIAL = 6, 3.0, 0.4
_WINDOW = re.compile(r"last (\d{1,5}) episodes")


@fact
def recent_returns(facts: RunFacts) -> Series | None:
    """The training return of a short run without the lag of its mean; None where it has none, or nobody can tell."""
    run, mean = facts.run, facts.series("return/train")
    found = _WINDOW.search(mean.window) if mean is not None else None
    if mean is None or found is None or mean.caveat or mean.axis != "env_steps":
        return None
    window, episodes = float(found[1]), run.episodes
    name = f"the episodes behind {mean.logged_as}"
    if episodes is not None and FEWEST_ROWS <= len(episodes) <= MANY_WINDOWS * window:
        steps, values = episodes.end_steps, episodes.returns
    else:
        rows = _Rows.of(run, mean)
        parts = _undone(rows, window) if rows is not None else None
        if parts is None:
            return None
        steps, values = parts
    return replace(mean, logged_as=name, steps=steps, values=values, wall_times=None, window="")


@dataclass(frozen=True, slots=True)
class UnseenEnd:
    """What the last episodes came to, where the mean that is logged surely does not show it yet."""

    level: float
    since: float
    """The step after which they ended."""
    window: str

    def told(self, when: str) -> str:
        """In words, with the step as it is written elsewhere."""
        late = f"which a mean over the {self.window} shows late"
        return f"the episodes after {when} came to {self.level:.4g} on average, {late}"


@fact
def unseen_end(facts: RunFacts) -> UnseenEnd | None:
    """The level of the last episodes of a short run; None where the mean shows it, or evaluations tell."""
    recent, curve, mean = recent_returns(facts), facts.curve, facts.series("return/train")
    if recent is None or curve is None or mean is None or facts.series("return/eval") is not None:
        return None
    kept = np.isfinite(recent.values)
    values, steps = recent.values[kept], recent.steps[kept]
    count = max(FEWEST_LAST, round(END_SHARE * values.size))
    if values.size <= count:
        return None
    last = values[-count:]
    level, error = float(last.mean()), float(last.std(ddof=1)) / math.sqrt(count)
    levels = (curve.start, curve.best, curve.final, level)
    if abs(level - curve.final) <= max(SURELY * error, MATERIAL * (max(levels) - min(levels))):
        return None
    return UnseenEnd(level, float(steps[-count - 1]), mean.window)


@dataclass(frozen=True, slots=True)
class _Rows:
    steps: FloatArray
    returns: FloatArray
    episodes: FloatArray
    """How many had ended."""

    @classmethod
    def of(cls, run: Run, mean: Series) -> _Rows | None:
        """The rows that have all numbers; None where they are too few, or not of one training."""
        kept = np.isfinite(mean.values)
        steps, returns = mean.steps[kept], mean.values[kept]
        if steps.size < FEWEST_ROWS or not (np.diff(steps) > 0).all() or _was_resumed(run):
            return None
        ended, lengths = _at(run.series.get("episodes"), steps), _at(run.series.get("episode_length"), steps)
        if ended is None and lengths is not None and lengths[0] > 0 and float(np.ptp(lengths)) == 0.0:
            ended = np.floor(steps / lengths[0])
        if ended is None or ended[0] < 1 or (np.diff(ended) < 0).any():
            return None
        return cls(steps, returns, ended)


def _was_resumed(run: Run) -> bool:
    """Whether a clock of the trainer began anew, and with it perhaps the window."""
    clock = run.series.get("time/elapsed")
    return clock is not None and bool((np.diff(clock.values) < 0.0).any())


def _at(series: Series | None, steps: FloatArray) -> FloatArray | None:
    """What the same rows say of another number; None where some do not."""
    if series is None:
        return None
    kept = np.isfinite(series.values) & np.isin(series.steps, steps)
    return series.values[kept] if np.array_equal(series.steps[kept], steps) else None


def _undone(rows: _Rows, window: float) -> tuple[FloatArray, FloatArray] | None:
    total = float(rows.episodes[-1])
    if total > MANY_WINDOWS * window:
        return None
    rounding = _unit(rows.returns) * min(window, total) / max(ROUGH * float(np.ptp(rows.returns)), 1e-12)
    least = max(1.0, total / PARTS, min(rounding, window))
    ends, played, sums = [0.0], [0.0], [0.0]
    for step, mean, ended in zip(rows.steps, rows.returns, rows.episodes, strict=True):
        if ended - played[-1] < (1.0 if ended == total else least):
            continue
        # What left the window is known from the rows before it.
        before = float(np.interp(max(0.0, ended - window), played, sums))
        ends.append(float(step))
        played.append(float(ended))
        sums.append(before + min(window, float(ended)) * float(mean))
    return (np.array(ends[1:]), np.diff(sums) / np.diff(played)) if len(ends) > FEWEST_ROWS else None


def _unit(values: FloatArray) -> float:
    """The last digit that is printed; zero where all are."""
    for digits in range(MAX_DIGITS):
        if np.abs(values - np.round(values, digits)).max() < 1e-9 * max(1.0, float(np.abs(values).max())):
            return 10.0**-digits
    return 0.0
