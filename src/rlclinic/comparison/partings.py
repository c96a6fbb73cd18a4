"""Where the returns of two runs part, and which of their metrics moved first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlclinic.model.comparison import FirstMove, Parting
from rlclinic.model.run import Run
from rlclinic.model.series import FloatArray, Series
from rlclinic.model.vocabulary import metric, position
from rlclinic.signals.departure import Departure, departure
from rlclinic.signals.lead_lag import lead_lag
from rlclinic.signals.resample import resample

# Points of a difference; fewer where the sparser of the two curves has fewer.
POINTS = 200
# Share of the range of both curves below which a difference is not worth a word.
MATERIAL = 0.05
# Standard errors over seeds that a difference of group means must exceed.
SEEDS = 2.0
# Probability of having moved before the return from which on a metric is named.
LEADS = 0.5
# Metrics shown as moved first.
SHOWN = 5
# Names that follow the return, count the work done or state a setting: they explain nothing.
FOLLOWERS = (
    "return",
    "reward",
    "episode_length",
    "success_rate",
    "episodes",
    "truncation_rate",
    "fps",
    "time",
    "updates",
    "tokens",
    "turns",
    "finish_rate",
    "elo",
    "learning_rate",
    "clip_range",
    "entropy_coef",
    "target_entropy",
    "curriculum",
)


def parting(first: Sequence[Run], second: Sequence[Run], names: tuple[str, str]) -> Parting:
    """Compare two runs, or two groups of seeds by their mean curves."""
    sides = [[run.returns for run in runs if run.returns is not None] for runs in (first, second)]
    if not all(sides):
        return Parting(*names, step=None, reason="a run has no return")
    if len({series.axis for side in sides for series in side}) > 1:
        return Parting(*names, step=None, reason="their steps count different things")
    curve, doubt = _difference(sides[0], sides[1])
    if curve is None:
        return Parting(*names, step=None, reason="too few points in common")
    low = min(float(np.nanmin(series.values)) for side in sides for series in side)
    high = max(float(np.nanmax(series.values)) for side in sides for series in side)
    found = departure(curve, material=max(MATERIAL * (high - low), SEEDS * doubt))
    if not found.enough:
        return Parting(*names, step=None, reason="too few points in common")
    if found.step is None:
        return Parting(*names, step=None, noise=found.band)
    alike = len({run.algorithm for run in (*first, *second)}) == 1
    return Parting(
        *names,
        step=found.step,
        rejoin_step=found.end_step,
        from_start=found.from_start,
        difference=found.difference,
        noise=found.band,
        moves=_first_moves(first, second, curve, found) if alike else (),
        same_algorithm=alike,
    )


def _difference(first: Sequence[Series], second: Sequence[Series]) -> tuple[Series | None, float]:
    """Mean curve of the first minus that of the second on common steps, and its standard error over seeds."""
    every = [*first, *second]
    curves = [resample(series, bins=POINTS, centre="mean") for series in every]
    if any(len(curve) < 2 for curve in curves):
        return None, 0.0
    start, end = max(float(c.steps[0]) for c in curves), min(float(c.steps[-1]) for c in curves)
    size = min(int(((c.steps >= start) & (c.steps <= end)).sum()) for c in curves)
    if size < 2 or end <= start:
        return None, 0.0
    grid = np.linspace(start, end, size)
    values = [np.interp(grid, curve.steps, curve.values) for curve in curves]
    one, two = np.array(values[: len(first)]), np.array(values[len(first) :])
    series = Series("difference", "difference", grid, one.mean(axis=0) - two.mean(axis=0), axis=every[0].axis)
    return series, float(np.hypot(_seed_error(one), _seed_error(two)))


def _seed_error(curves: FloatArray) -> float:
    """Standard error of a mean curve over its seeds, in the middle of its steps; 0 for one seed."""
    count = curves.shape[0]
    return float(np.median(curves.std(axis=0, ddof=1))) / float(np.sqrt(count)) if count > 1 else 0.0


def _first_moves(
    first: Sequence[Run], second: Sequence[Run], returns: Series, parted: Departure
) -> tuple[FirstMove, ...]:
    """The metrics that all runs share and that parted no later than the return."""
    names = set.intersection(*({name for name in run.series if metric(name)} for run in (*first, *second)))
    moves = []
    for name in sorted(names, key=position):
        if name.partition("/")[0] in FOLLOWERS:
            continue
        move = _move([run.series[name] for run in first], [run.series[name] for run in second], returns, parted)
        if move is not None:
            moves.append(move)
    moves.sort(key=lambda move: (move.step, position(move.metric)))
    return tuple(moves[:SHOWN])


def _move(first: Sequence[Series], second: Sequence[Series], returns: Series, parted: Departure) -> FirstMove | None:
    if {series.axis for series in (*first, *second)} != {returns.axis}:
        return None
    curve, doubt = _difference(first, second)
    if curve is None:
        return None
    values = np.concatenate([series.values[np.isfinite(series.values)] for series in (*first, *second)])
    found = departure(curve, material=max(MATERIAL * float(np.ptp(values)), SEEDS * doubt))
    if found.step is None or parted.step is None or found.step > parted.step:
        return None
    order = None if found.from_start or parted.from_start else lead_lag(curve, returns)
    if order is not None and order.enough and order.probability < LEADS:
        return None
    return FirstMove(
        first[0].name,
        first[0].logged_as,
        found.step,
        found.from_start,
        found.difference,
        order.probability if order is not None and order.enough else None,
    )
