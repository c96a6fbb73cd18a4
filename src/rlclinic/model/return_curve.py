"""How a return went: where it began, its best, where it ended, how noisy it is, and where it fell."""

from __future__ import annotations

import math

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray

FEWEST_POINTS = 8
"""Points below which neither a fall nor the lack of a rise can be told from a few bad points."""
MANY_POINTS = 20
"""Points below which a decline from the first one on is as likely its luck."""
RISE = 1.5
"""Units of noise that the rise of the last third must exceed."""
MATERIAL_RISE = 0.08
"""Share of the climb that the last third must add."""
LIKELY_RISE = 0.12
"""Share of the climb that the last half must add to lean upwards where noise hides a rise."""
MOST_OF_A_PLATEAU = 0.15
"""Share of the climb that a last third which surely adds less may add at the most."""
AS_CLEAR_AS_A_CLIMB = 4.0
"""Units of noise that a rise must exceed which does not even bring the return back to where it began."""
SMOOTH = 0.05
"""Share of the climb below which the scatter of points hides nothing: there the last third itself tells."""
SURE_FALL = 2.0
"""Units of noise that a drop must exceed which is the end of a sure fall."""
BY_FAR = 2.0
"""Times the doubt that a drop must exceed which no stretch shows as a sure fall."""
FALLING = 0.3
"""Share of the climb that a sure fall over the last third must take."""
SHRINKS = math.log(1.25)
"""What a cost must still lose over the last third, as a logarithm of the factor."""
HELD = 0.1
"""Share of the range that the first fifth may lose and still have held."""
CHANCE = 0.05
"""How often the order of the levels alone may make such a climb."""
TREND_CHANCE = 0.01
"""The same of a straight line, which knows neither its ends nor its best level."""
FELL_BELOW = 0.5
"""Share of the range that a fall below the first level must make up."""


@dataclass(frozen=True, slots=True)
class Rise:
    """The change along a straight line, with its 95% interval; without bounds where points are too few."""

    value: float
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_sure(self) -> bool:
        return self.low > 0.0

    @property
    def is_sure_fall(self) -> bool:
        return self.high < 0.0


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall of the return after a climb."""

    high: float
    low: float
    from_step: float
    to_step: float
    recovered: float
    """Highest level after it, minus its lowest."""

    @property
    def depth(self) -> float:
        return self.high - self.low


@dataclass(frozen=True, slots=True, eq=False)
class ReturnCurve:
    """One return in the numbers that everything else judges by. Levels are means of windows, never single points."""

    points: int
    """Finite points that it rests on."""
    steps: FloatArray
    values: FloatArray
    """The level at each of these steps: means of stretches, lightly smoothed."""
    start: float
    final: float
    best: float
    best_step: float
    noise: float
    """What counts as a material change of a level: its sampling noise, or 2% of its size."""
    scatter: float
    """The same by what the eye sees, the scatter of the levels: a mean over past episodes looks smoother than it is."""
    point_noise: float
    """Robust scatter of single logged points."""
    doubt: float
    """How far the best of all levels may lie above another one by chance: the maximum of noise is above its mean."""
    shape_chance: float
    """How often the same levels in any other order make as high a curve: one outlier always does."""
    gain_chance: float
    """How often they gain as much."""
    trend_chance: float
    """How often they rise as much along a straight line."""
    gain_error: float
    """Standard error of the gain."""
    start_error: float
    """The same with the few episodes that the first points of a windowed return rest on."""
    late_rise: float
    """Change over the last third, from its first to its last part."""
    whole: Rise
    """Along the whole curve."""
    half: Rise
    """Along its last half."""
    third: Rise
    shrinking: Rise | None
    """The last third of a cost that shrank by factors, on a logarithmic axis: natural logarithms."""
    established: float
    """Lowest level of the first fifth: what the run could do for a while, not for a lucky moment."""
    sure_start: bool
    """Whether episodes enough stand behind the first fifth."""
    falls: tuple[Fall, ...]
    """Falls that are more than noise and part of the shape, in order."""

    @property
    def climb(self) -> float:
        """From the start to the best level."""
        return self.best - self.start

    @property
    def gain(self) -> float:
        """From the start to the end."""
        return self.final - self.start

    @property
    def drop(self) -> float:
        """From the best level to the end."""
        return self.best - self.final

    @property
    def span(self) -> float:
        """Highest minus lowest level."""
        return float(self.values.max() - self.values.min())

    @property
    def enough(self) -> bool:
        """Whether there are points enough to judge the shape."""
        return self.points >= FEWEST_POINTS

    @property
    def climbed(self) -> bool:
        """Whether it was ever clearly above its start."""
        return self.climb > self.doubt and self.shape_chance < self._chance

    @property
    def improved(self) -> bool:
        """Whether it ended clearly above its start."""
        return self.gain > 3.0 * self.scatter

    @property
    def surely_gained(self) -> bool:
        """Whether the gain is more than noise, however small it is."""
        by_its_ends = self.gain > 3.0 * self.start_error and self.gain_chance < self._chance
        ordered = min(self.gain_chance, self.shape_chance) < self._chance or self.trend_chance < TREND_CHANCE
        along = self.whole.is_sure and self.half.high > 0.0 and ordered
        return self.gain > 0.0 and (by_its_ends or along)

    @property
    def surely_rose(self) -> bool:
        """Whether a line along the whole, its last half or its last third has a lower bound above zero."""
        return any(stretch.is_sure for stretch in (self.whole, self.half, self.third))

    @property
    def _chance(self) -> float:
        """What chance may make; a single level apart is at one of the ends by chance in 2 of so many orders."""
        return max(CHANCE, 2.0 / self.values.size)

    @property
    def rose(self) -> bool:
        """Whether some rise is more than noise: to its best, to its end, or from a trough."""
        return self.climbed or self.surely_gained or self.rose_from_trough

    @property
    def cannot_have_risen(self) -> bool:
        """Whether the most that it can have risen along the whole is noise, however few points tell it."""
        return not self.rose and self.whole.high < self.noise

    @property
    def least_fall(self) -> float:
        """What a drop from the best level must exceed to be one; less where the last half as a whole surely falls."""
        return min(self.doubt, SURE_FALL * self.noise) if self.half.is_sure_fall else self.doubt

    @property
    def surely_lost(self) -> bool:
        """Whether the end is below the best level beyond doubt: by far, or after a stretch that surely falls."""
        fell = any(stretch.is_sure_fall for stretch in (self.whole, self.half, self.third))
        return fell or self.drop > BY_FAR * self.doubt

    @property
    def falling(self) -> bool:
        """Whether the last third surely falls, by a good part of the climb."""
        return self.third.is_sure_fall and -self.third.value > FALLING * max(self.climb, 0.0)

    @property
    def first_level(self) -> float:
        """The level that held for the first fifth, or the first of all where that was lost by then."""
        if self.established - self.final > self._least_decline or not self.whole.is_sure_fall:
            return self.established
        sure = self.points >= MANY_POINTS and self.start - self.final > 3.0 * self.start_error
        return max(self.established, self.start) if sure else self.established

    @property
    def declined_from_the_first(self) -> bool:
        """Whether no level held for a while before it was lost: it went down all along."""
        at_once = self.start - self.established > max(self.noise, HELD * self.span)
        return at_once or self.first_level > self.established

    @property
    def fell_below_start(self) -> bool:
        """Whether the level that it began with is clearly lost."""
        return self.sure_start and self.first_level - self.final > self._least_decline

    @property
    def _least_decline(self) -> float:
        return max(self.doubt, FELL_BELOW * self.span)

    @property
    def decline(self) -> float:
        """What was lost of the first level, as a share of its size."""
        return (self.first_level - self.final) / max(abs(self.first_level), self.noise)

    @property
    def still_rising(self) -> bool:
        """Whether the ends of the last third differ by a material part of the climb, and more than noise."""
        return self.late_rise > max(RISE * self.scatter, MATERIAL_RISE * max(self.climb, 0.0))

    @property
    def rising(self) -> bool:
        """Whether the last third still adds a material part of the climb, and more than noise.

        By its ends; or, where those are too noisy, along a straight line that the whole last half confirms. A rise that
        does not even bring the return back to where it began must be as clear as a climb.
        """
        if self.gain <= 0.0 and max(self.late_rise, self.half.value) <= AS_CLEAR_AS_A_CLIMB * self.noise:
            return False
        if self.still_rising and self.late_rise > RISE * self.noise:
            return True
        material = MATERIAL_RISE * max(self.climb, 0.0)
        # Of few points only the whole has an interval.
        line = self.half if math.isfinite(self.half.low) else self.whole
        return line.is_sure and self.half.value > material and self.third.value > material

    @property
    def rises_in_the_end(self) -> bool:
        """Whether the last third by itself surely adds a good part of the climb: then it is not flat.

        A cost that shrank by factors is flat only where it no longer does, however small what is left of it looks.
        """
        adds = self.third.is_sure and self.third.value > MOST_OF_A_PLATEAU * self.climb
        return adds or (self.shrinking is not None and self.shrinking.low > 0.0 and self.shrinking.value > SHRINKS)

    @property
    def begins_to_rise(self) -> bool:
        """Whether the end surely rises, to above all that was before: too late to be sure of the whole."""
        before = self.values[: -max(1, self.values.size // 3)]
        higher = before.size > 0 and self.final > float(before.max())
        return higher and self.rising and (self.half.is_sure or self.third.is_sure)

    @property
    def came_back(self) -> bool:
        """Whether it rises again from a trough clearly below its start, and not clearly above where it began."""
        fell = self.start - float(self.values.min()) > self.doubt
        return self.rising and fell and (self.gain <= 0.0 or not self.rose)

    @property
    def leans_up(self) -> bool:
        """Whether a rise of the last half is more likely than not, and material, though not sure."""
        if not (self.climbed or self.surely_gained) or self.third.high < MOST_OF_A_PLATEAU * self.climb:
            return False
        # Of rare successes most points are the same: there the levels tell the noise.
        if self.third.value <= 0.0 and (self.point_noise or self.gain_error) < SMOOTH * self.climb:
            return False
        return self.half.value > LIKELY_RISE * self.climb and self.half.high > -self.half.low

    @property
    def rose_from_trough(self) -> bool:
        """Whether a return whose first level rests on a few episodes rose clearly from its lowest level."""
        early = int(self.values.argmin()) < self.values.size // 2
        return not self.sure_start and early and self.final - float(self.values.min()) > self.doubt
