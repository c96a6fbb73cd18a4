"""The curve of a return, guarded against the ways in which a healthy return looks ill: a mean over 100 episodes that
wanders, returns that are zero except for rare successes, one bad last evaluation."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.window_noise import WindowNoise, is_windowed, robust_spread
from rlclinic.model.numbers import TO_SIGMA
from rlclinic.model.return_curve import Fall, ReturnCurve, Rise
from rlclinic.model.series import FloatArray, Series
from rlclinic.signals._bins import bin_ends, bin_means
from rlclinic.signals._bootstrap import bootstrap_rise, by_chance
from rlclinic.signals._course import plain_course
from rlclinic.signals._robust import mean, median

# Points the curve is reduced to; enough for its shape, few enough that single episodes average out.
BINS = 60
# Share of the run that counts as its beginning and as its end. A training return that is itself a mean over 100
# episodes follows the policy late; the start is short on purpose.
START_SHARE = 0.06
END_SHARE = 0.12
# Fewest points behind the level at the end: the middle one of three survives one bad evaluation.
END_POINTS = 3
# Share of the run that makes up its established first level.
ESTABLISHED = 0.2
# Share of the curve's range that a fall must exceed to be part of its shape.
MATERIAL_FALL = 0.4
# Episodes behind the first fifth of a windowed return; with fewer its level is the luck of single episodes.
SURE_EPISODES = 20.0
# Share of its size by which a level must change to matter.
MATERIAL = 0.02
SMALLEST = 1e-12
# Units of noise by which the best of all levels lies above another by chance, once in forty: the
# expected maximum of some twelve smoothed levels and the error of both. A windowed mean is as noisy smoothed as not.
DOUBT, WINDOWED_DOUBT = 2.5, 4.0
# Times the scatter beside a slow course that the noise of a windowed mean may be, where it had the time to wander.
SLOW, MANY_WINDOWS = 1.5, 15.0
# Half the interval of a rise in units of noise that neighbours share: a line averages it as three points would.
WANDER = 2.5 * math.sqrt(3.0)
# How readers call a return of which each point is one episode.
SINGLE = "single episode"
# Times the last cost that the first must be to have shrunk by factors.
FACTORS = 10.0
# Times that noise exceeds what neighbours show where they share most of their episodes, and likeness from which on.
OVERLAP, MOST_ALIKE = 3.0, 0.8


def return_curve(series: Series | None, window: WindowNoise | None = None) -> ReturnCurve | None:
    """Measure a return; None where there is no finite point. `window` is the noise of a mean over past episodes."""
    if series is None:
        return None
    finite = np.isfinite(series.values)
    values, steps = series.values[finite], series.steps[finite]
    if not values.size:
        return None
    bins = min(BINS, values.size)
    levels, at = bin_means(values, bins), bin_ends(steps, bins)
    smooth = _smooth(levels)
    best, third = int(np.argmax(smooth)), max(1, bins // 3)
    first, last = max(1, round(START_SHARE * bins)), max(1, round(END_SHARE * bins))
    start, final = mean(levels[:first]), _final(levels, last)
    scatter = _noise(levels, smooth)
    # A mean over the last episodes wanders slowly: averaging its points does not lessen the noise, unless each level
    # has episodes of its own.
    slow = window.windows < bins if window is not None else is_windowed(series)
    if slow:
        scatter = _windowed(window, levels, scatter)
    elif window is not None:
        scatter = min(scatter, window.noise)
    elif SINGLE in series.window:
        scatter = max(scatter, _plain_noise(levels))
    material = max(MATERIAL * max(abs(start), abs(final), abs(float(smooth[best]))), SMALLEST)
    independent = 2.0 if slow else 1.0 / first + 1.0 / max(END_POINTS, last)
    error = max(scatter, SMALLEST) * math.sqrt(independent)
    doubt = max(scatter * (WINDOWED_DOUBT if slow else DOUBT), 2.0 * material)
    ends, least = max(1, third // 3), WANDER * scatter if slow else 0.0
    tops = (float(smooth[best]), final, start)
    shape_chance, gain_chance, trend_chance = by_chance(
        levels,
        lambda rows: _range(_smooth(rows)),
        lambda rows: np.add.reduce(rows[:, -last:], axis=1) / last - np.add.reduce(rows[:, :first], axis=1) / first,
        lambda rows: rows @ (np.arange(bins) - (bins - 1) / 2.0),
    )
    return ReturnCurve(
        points=int(values.size),
        steps=at,
        values=smooth,
        start=start,
        final=final,
        # Start and end are levels too, over fewer points than those that are smoothed.
        best=max(tops),
        best_step=float((at[best], at[-1], at[first - 1])[tops.index(max(tops))]),
        noise=max(scatter, material),
        scatter=max(_scatter(levels - smooth), material),
        point_noise=_scatter(np.diff(values)) / math.sqrt(2.0) if values.size > 2 else 0.0,
        doubt=doubt,
        shape_chance=shape_chance,
        gain_chance=gain_chance,
        trend_chance=trend_chance,
        gain_error=error,
        start_error=math.hypot(window.noise, window.start_noise) if window else error,
        late_rise=mean(smooth[-ends:]) - mean(smooth[-third:][:ends]),
        whole=bootstrap_rise(levels, least),
        half=bootstrap_rise(levels[-max(1, bins // 2) :], least),
        third=bootstrap_rise(levels[-third:], least),
        shrinking=_shrinking(levels, third),
        established=float(smooth[: max(1, round(ESTABLISHED * bins))].min()),
        sure_start=window is None or window.first_episodes >= SURE_EPISODES,
        falls=falls(smooth, at, max(doubt, MATERIAL_FALL * float(_range(smooth)))),
    )


def _shrinking(levels: FloatArray, third: int) -> Rise | None:
    """How a cost that shrank by factors still does, over the last third; None for any other return."""
    if levels.max() >= 0.0 or float(levels[0]) > FACTORS * float(levels[-1]):
        return None
    return bootstrap_rise(-np.log(-levels[-third:]))


def level_at(curve: ReturnCurve, step: float) -> float:
    """The level around a step."""
    return float(np.interp(step, curve.steps, curve.values))


def falls(levels: FloatArray, steps: FloatArray, least: float) -> tuple[Fall, ...]:
    """Falls of at least `least` that follow a rise of at least `least`."""
    found: list[Fall] = []
    low = high = 0
    rising = False
    for index in range(1, levels.size):
        value = levels[index]
        if rising:
            high = index if value > levels[high] else high
            if levels[high] - value >= least:
                found.append(_fall(levels, steps, high, least))
                rising, low = False, index
        else:
            low = index if value < levels[low] else low
            if value - levels[low] >= least:
                rising, high = True, index
    return tuple(found)


def _fall(levels: FloatArray, steps: FloatArray, high: int, least: float) -> Fall:
    """Follow a fall to its lowest point before the return rises by `least` again."""
    low = high
    for index in range(high, levels.size):
        low = index if levels[index] < levels[low] else low
        if levels[index] - levels[low] >= least:
            break
    top, bottom = float(levels[low:].max()), float(levels[low])
    return Fall(float(levels[high]), bottom, float(steps[high]), float(steps[low]), top - bottom)


def _final(levels: FloatArray, last: int) -> float:
    """The level at the end; of few points one that neither a bad nor a lucky last point decides."""
    final = mean(levels[-last:])
    if round(END_SHARE * levels.size) >= END_POINTS:
        return final
    middle = median(levels[-END_POINTS:])
    return middle if final < middle else float(levels[-2:].mean())


def _smooth(values: FloatArray) -> FloatArray:
    """Running mean over five levels along the last axis; beyond an end its level goes on."""
    if values.shape[-1] < 5:
        return values
    around = np.concatenate((values[..., :1], values[..., :1], values, values[..., -1:], values[..., -1:]), axis=-1)
    total: FloatArray = around[..., :-4] + around[..., 1:-3] + around[..., 2:-2] + around[..., 3:-1] + around[..., 4:]
    return total / 5.0


def _range(values: FloatArray) -> FloatArray:
    """From the least to the greatest along the last axis."""
    found: FloatArray = np.maximum.reduce(values, axis=-1) - np.minimum.reduce(values, axis=-1)
    return found


def _noise(levels: FloatArray, smooth: FloatArray) -> float:
    """Noise of one level, of the noisier half: about the smooth curve, which a jump bends, or between neighbours."""
    about = max(robust_spread(half) for half in np.array_split(levels - smooth, 2))
    steps = [part for part in np.array_split(np.diff(levels), 2) if part.size > 1]
    return min([about, max((robust_spread(part) for part in steps), default=math.inf) / math.sqrt(2.0)])


def _plain_noise(levels: FloatArray) -> float:
    """The same by the standard deviation: a mean of few episodes follows the rare long one, a median does not."""
    steps = [part for part in np.array_split(np.diff(levels), 2) if part.size > 1]
    return max((float(part.std()) for part in steps), default=0.0) / math.sqrt(2.0)


def _windowed(window: WindowNoise | None, levels: FloatArray, visible: float) -> float:
    """Noise of a mean over past episodes: no more than what is left beside a slow course of a few straight lines."""
    left = plain_course(levels).residual
    if window is None:
        return visible * _overlap(left)
    return window.noise if window.windows < MANY_WINDOWS else min(window.noise, SLOW * float(left.std()))


def _overlap(residual: FloatArray) -> float:
    """How much neighbours understate their noise: they share as many episodes as they are alike."""
    power = float(residual @ residual)
    phi = float(residual[1:] @ residual[:-1]) / power if power > 0.0 else 0.0
    return math.sqrt((1.0 + phi) / (1.0 - phi)) if 0.0 < phi < MOST_ALIKE else 1.0 if phi <= 0.0 else OVERLAP


def _scatter(values: FloatArray) -> float:
    return TO_SIGMA * median(np.abs(values - median(values))) if values.size else 0.0
