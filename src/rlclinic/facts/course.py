"""The course of the return beyond its levels: what counts as more than noise, how it ended, where it fell.

`Outcome` has the levels. What is added here guards them against the ways in which a healthy return looks ill: a
mean over 100 episodes that wanders, returns that are zero except for rare successes, one bad last evaluation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rlclinic.facts.falls import Fall, falls_of
from rlclinic.facts.outcome import END_SHARE, START_SHARE, Outcome
from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.window_noise import robust_spread, window_noise
from rlclinic.model.series import FloatArray

# Units of noise that a change of the level must exceed; with 60 bins chance alone reaches about three.
CLEAR = 4.0
# Share of the curve's range that a fall must exceed to be part of its shape.
MATERIAL_FALL = 0.4
# Share of the range that a fall below the first level must make up.
FELL_BELOW = 0.5
# Units of noise that the rise of the last third must exceed.
RISE = 1.5
# Standard errors that the rise of the last half must exceed, and share of the climb that the last third must add.
SURE_RISE = 2.5
MATERIAL_RISE = 0.08
# Share of the run that makes up its established first level.
ESTABLISHED = 0.2
# Points below which neither a fall nor the lack of a rise can be told from a few bad points.
FEWEST_POINTS = 12
# Episodes behind the first fifth of a windowed return; with fewer its level is the luck of single episodes.
SURE_EPISODES = 20.0
# Fewest points behind the level at the end: the middle one of three survives one bad evaluation.
END_POINTS = 3


@dataclass(frozen=True, slots=True)
class Course:
    """The return as rules judge it."""

    outcome: Outcome
    unit: float
    """Size of the noise of one level: changes count in multiples of it."""
    end: float
    error: float
    """Standard error of the gain from start to end."""
    start_error: float
    """The same with the few episodes that the first points of a windowed return rest on."""
    span: float
    """Highest minus lowest level."""
    half_rise: float
    """Change over the last half along a straight line."""
    half_error: float
    third_rise: float
    """The same over the last third."""
    established: float
    """Lowest level of the first fifth: what the run could do for a while, not for a lucky moment."""
    sure_start: bool
    """Whether episodes enough stand behind the first fifth."""
    falls: tuple[Fall, ...]
    """Falls that are more than noise and part of the shape, in order."""

    @property
    def gain(self) -> float:
        return self.end - self.outcome.start

    @property
    def drop(self) -> float:
        return self.outcome.peak - max(self.end, self.outcome.end)

    @property
    def enough(self) -> bool:
        """Whether there are points enough to judge the shape."""
        return self.outcome.points >= FEWEST_POINTS

    @property
    def climbed(self) -> bool:
        """Whether it was ever clearly above its start."""
        return self.outcome.climb > CLEAR * self.unit

    @property
    def fell_below_start(self) -> bool:
        """Whether the level that held for the first fifth is clearly lost."""
        return self.sure_start and self.established - self.end > max(CLEAR * self.unit, FELL_BELOW * self.span)

    @property
    def rising(self) -> bool:
        """Whether the last third still adds a material part of the climb, and more than noise.

        By its ends; or, where those are too noisy, along a straight line that the whole last half confirms. A rise that
        does not even bring the return back to where it began must be as clear as a climb.
        """
        if self.gain <= 0.0 and max(self.outcome.late_slope, self.half_rise) <= CLEAR * self.unit:
            return False
        if self.outcome.still_rising and self.outcome.late_slope > RISE * self.unit:
            return True
        sure = self.half_rise > max(SURE_RISE * self.half_error, self.unit)
        return sure and min(self.half_rise, self.third_rise) > MATERIAL_RISE * max(self.outcome.climb, 0.0)

    @property
    def leans_up(self) -> bool:
        """Whether a rise of the last half is more likely than not, and material, though not sure."""
        material = max(self.unit, MATERIAL_RISE * max(self.outcome.climb, 0.0))
        return self.half_rise > self.half_error and min(self.half_rise, self.third_rise) > material

    @property
    def rose_from_trough(self) -> bool:
        """Whether a return whose first level rests on a few episodes rose clearly from its lowest level."""
        curve = self.outcome.curve
        early = int(curve.argmin()) < curve.size // 2
        return not self.sure_start and early and self.end - float(curve.min()) > CLEAR * self.unit

    @property
    def surely_gained(self) -> bool:
        """Whether the gain is more than noise, however small it is."""
        return self.gain > 3.0 * self.start_error and self.gain > 0


@fact
def course_of(facts: RunFacts) -> Course | None:
    """The course of a run's return; None where it has none."""
    outcome, series = facts.outcome, facts.returns
    if outcome is None or series is None:
        return None
    values = series.values[np.isfinite(series.values)]
    binned = np.array([float(part.mean()) for part in np.array_split(values, outcome.curve.size)])
    first = max(1, round(START_SHARE * binned.size))
    last = max(END_POINTS, round(END_SHARE * binned.size))
    window = window_noise(facts, series)
    noise = window.noise if window else max(robust_spread(half) for half in np.array_split(binned - outcome.curve, 2))
    # A mean over the last episodes wanders slowly: averaging its points does not lessen the noise.
    independent = 2.0 if window else 1.0 / first + 1.0 / last
    error = max(noise, 1e-12) * math.sqrt(independent)
    unit = max(noise, _two_percent(outcome))
    span = float(np.ptp(outcome.curve))
    return Course(
        outcome=outcome,
        unit=unit,
        end=_end(binned, outcome),
        error=error,
        start_error=math.hypot(window.noise, window.start_noise) if window else error,
        span=span,
        half_rise=_rise(binned[-max(1, binned.size // 2) :]),
        half_error=noise * math.sqrt(3.0 if window else 12.0 / max(1, binned.size // 2)),
        third_rise=_rise(binned[-max(1, binned.size // 3) :]),
        sure_start=window is None or window.first_episodes >= SURE_EPISODES,
        established=float(outcome.curve[: max(1, round(ESTABLISHED * binned.size))].min()),
        falls=falls_of(outcome.curve, outcome.steps, max(CLEAR * unit, MATERIAL_FALL * span)),
    )


def _two_percent(outcome: Outcome) -> float:
    return max(0.02 * max(abs(outcome.start), abs(outcome.end), abs(outcome.peak)), 1e-12)


def _rise(values: FloatArray) -> float:
    """Change over the values along their straight line."""
    if values.size < 2:
        return 0.0
    time = np.linspace(-0.5, 0.5, values.size)
    return float(time @ values) / float(time @ time)


def _end(binned: FloatArray, outcome: Outcome) -> float:
    """The level at the end; of few points one that neither a bad nor a lucky last point decides."""
    if round(END_SHARE * binned.size) >= END_POINTS:
        return outcome.end
    middle = float(np.median(binned[-END_POINTS:]))
    return middle if outcome.end < middle else float(binned[-2:].mean())
