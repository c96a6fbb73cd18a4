"""How the return went: where it began, its best, where it ended, and how noisy it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlclinic.model.series import FloatArray, Series

# Points the curve is reduced to; enough for its shape, few enough that single episodes average out.
BINS = 60
# Share of the run that counts as its beginning and as its end.
START_SHARE = 0.06
END_SHARE = 0.12
# A training return that is itself a mean over 100 episodes follows the policy late; the start is short on purpose.


@dataclass(frozen=True, slots=True)
class Outcome:
    """The course of a return. `curve` is the binned, lightly smoothed return over `steps`."""

    points: int
    steps: FloatArray
    curve: FloatArray
    start: float
    end: float
    peak: float
    peak_step: float
    trough_after_peak: float
    noise: float
    """Robust scatter of the binned curve about its smooth course."""
    point_noise: float
    """Robust scatter of single logged points."""
    late_slope: float
    """Change over the last third, in units of the return."""

    @property
    def climb(self) -> float:
        """From the start to the best level."""
        return self.peak - self.start

    @property
    def gain(self) -> float:
        """From the start to the end."""
        return self.end - self.start

    @property
    def drop(self) -> float:
        """From the best level to the end."""
        return self.peak - self.end

    @property
    def scale(self) -> float:
        """What counts as a material change of this return: its noise, or a share of its level."""
        level = 0.02 * max(abs(self.start), abs(self.end), abs(self.peak))
        return max(self.noise, level, 1e-12)

    @property
    def improved(self) -> bool:
        """Whether it ended clearly above its start."""
        return self.gain > 3.0 * self.scale

    @property
    def climbed(self) -> bool:
        """Whether it was ever clearly above its start."""
        return self.climb > 4.0 * self.scale

    @property
    def still_rising(self) -> bool:
        """Whether the last third still adds a material part of the climb."""
        return self.late_slope > max(1.5 * self.scale, 0.08 * max(self.climb, 0.0))


def outcome_of(series: Series | None) -> Outcome | None:
    """The course of a return; None where there is no finite point."""
    if series is None:
        return None
    finite = np.isfinite(series.values)
    values, steps = series.values[finite], series.steps[finite]
    if not values.size:
        return None
    bins = min(BINS, values.size)
    binned = np.array([float(np.mean(chunk)) for chunk in np.array_split(values, bins)])
    at = np.array([float(chunk[-1]) for chunk in np.array_split(steps, bins)])
    smooth = _smooth(binned)
    first = max(1, round(START_SHARE * bins))
    last = max(1, round(END_SHARE * bins))
    peak = int(np.argmax(smooth))
    third = max(1, bins // 3)
    late = smooth[-third:]
    return Outcome(
        points=int(values.size),
        steps=at,
        curve=smooth,
        start=float(np.mean(binned[:first])),
        end=float(np.mean(binned[-last:])),
        peak=float(smooth[peak]),
        peak_step=float(at[peak]),
        trough_after_peak=float(smooth[peak:].min()),
        noise=_scatter(binned - smooth),
        point_noise=_scatter(np.diff(values)) / np.sqrt(2.0) if values.size > 2 else 0.0,
        late_slope=float(np.mean(late[-max(1, third // 3) :]) - np.mean(late[: max(1, third // 3)])),
    )


def _smooth(values: FloatArray) -> FloatArray:
    """Running mean over five bins, shorter at the ends."""
    if values.size < 5:
        return values
    padded = np.pad(values, 2, mode="edge")
    return np.convolve(padded, np.ones(5) / 5, mode="valid")


def _scatter(residuals: FloatArray) -> float:
    return float(1.4826 * np.median(np.abs(residuals - np.median(residuals)))) if residuals.size else 0.0
