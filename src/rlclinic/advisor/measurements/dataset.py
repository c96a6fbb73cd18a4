"""What the rows of a data set say by themselves: returns, ends, repeats, actions, and what is missing."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.model.advice import Measurement
from rlclinic.model.errors import UsageError
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import BoolArray, IntArray, Transitions

RESAMPLES = 1000
BINS = 10
EDGE = 1e-3
"""Share of the range within which an action is at its edge."""
ENOUGH_AT_LIMIT = 3
SEPARATE = 0.85
"""Share of the variance of returns between two groups from which they are two; a bell has 0.64, an even spread 0.75."""
FEWEST_OF_TWO = 0.1


def spans(steps: Transitions) -> tuple[IntArray, IntArray]:
    """First rows of the episodes, and the rows after their last ones."""
    starts = np.flatnonzero(np.diff(steps.episodes, prepend=steps.episodes[:1] - 1))
    return starts, np.append(starts[1:], len(steps))


def returns_of(steps: Transitions) -> FloatArray:
    """The return of each episode; rows with NaN or inf are taken for ones like the rest of their episode."""
    whole = _finite(steps)
    starts, ends = spans(steps)
    sums = np.add.reduceat(np.where(whole, steps.rewards, 0.0), starts)
    known = np.add.reduceat(whole.astype(int), starts)
    seen = known > 0
    returns: FloatArray = sums[seen] * ((ends - starts)[seen] / known[seen])
    return returns


def mean_interval(values: FloatArray) -> tuple[float, float]:
    """The 95% interval of a mean, from a bootstrap over episodes."""
    drawn = np.random.default_rng(0).choice(values, (RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def two_groups(returns: FloatArray) -> bool:
    """Whether returns fall into two groups, each of a tenth of the episodes and of two at least."""
    ordered, count = np.sort(returns), len(returns)
    total, fewest = float(ordered.var()), max(2, math.ceil(FEWEST_OF_TWO * count))
    if count < 10 or np.ptp(ordered) <= 1e-9 * np.abs(ordered).max():
        return False
    cuts = np.arange(fewest, count - fewest + 1)
    sums = np.cumsum(ordered)[cuts - 1]
    left, right = sums / cuts, (ordered.sum() - sums) / (count - cuts)
    between = cuts * (count - cuts) / count**2 * (left - right) ** 2
    return bool(between.max() / total >= SEPARATE)


def return_measurement(returns: FloatArray, lengths: IntArray) -> Measurement:
    """How returns are distributed."""
    low, high = mean_interval(returns)
    quarters = np.quantile(returns, [0.1, 0.5, 0.9])
    # Returns that differ by rounding alone are too close for bins.
    spread = np.ptp(returns) > 1e-9 * np.abs(returns).max()
    counts, edges = np.histogram(returns if spread else np.full(len(returns), returns[0]), BINS)
    bars = tuple((f"{a:.4g} to {b:.4g}", float(n)) for a, b, n in zip(edges, edges[1:], counts, strict=False))
    groups = "; they fall into two groups" if two_groups(returns) else ""
    told = (
        f"{len(returns):,} episodes of {np.median(lengths):,.0f} steps: mean {returns.mean():.4g} ({low:.4g} to "
        f"{high:.4g}), a tenth below {quarters[0]:.4g}, half below {quarters[1]:.4g}, a tenth above "
        f"{quarters[2]:.4g}{groups}"
    )
    return Measurement("returns", "Returns", float(returns.mean()), told, low, high, bars)


def end_measurement(steps: Transitions) -> tuple[Measurement, dict[str, object]]:
    """Whether ends are marked, and whether time limits pass for real ends."""
    starts, ends = spans(steps)
    lengths, last = ends - starts, ends - 1
    terminated, truncated = int(steps.terminated.sum()), int(steps.truncated.sum())
    longest = int(lengths.max())
    at_limit = lengths == longest
    as_ends = int((at_limit & steps.terminated[last]).sum())
    hidden = not truncated and at_limit.sum() >= ENOUGH_AT_LIMIT and as_ends == at_limit.sum() and longest >= 10
    facts: dict[str, object] = {"data.ends_marked": bool(terminated or truncated) and not hidden}
    told = f"{terminated:,} real ends and {truncated:,} time limits"
    if not terminated and not truncated:
        told = "no step is marked as an end: values would run across episodes"
    elif hidden:
        facts["env.time_limit_terminal"] = True
        told += (
            f"; {as_ends} episodes are as long as the longest ({longest} steps) and marked as real ends, so the time"
        )
        told += " limit passes for one"
    return Measurement("ends", "Ends and time limits", float(terminated + truncated), told), facts


def finite_rows(steps: Transitions) -> tuple[Transitions, list[Measurement]]:
    """The steps without NaN and inf, and how many have them; they alone can be measured."""
    whole = _finite(steps)
    if whole.all():
        return steps, []
    if not whole.any():
        raise UsageError("no step of the data is finite", hint="NaN or inf in observations, actions or rewards")
    told = f"{1.0 - whole.mean():.2%} of the steps hold NaN or inf; the others are measured"
    return steps.chosen(whole), [Measurement("not-finite", "NaN or inf", float(1.0 - whole.mean()), told)]


def _finite(steps: Transitions) -> BoolArray:
    return np.asarray(np.isfinite(_rows(steps)).all(axis=1))


def _rows(steps: Transitions) -> FloatArray:
    return np.concatenate([steps.observations, steps.actions, steps.rewards[:, None], steps.next_observations], axis=1)


def row_measurements(steps: Transitions) -> list[Measurement]:
    """Repeats, gaps, and actions at the edge of their range."""
    starts, ends = spans(steps)
    rows = _rows(steps)
    repeated = 1.0 - len(np.unique(rows, axis=0)) / len(rows)
    inside = np.flatnonzero(steps.follows)
    gaps = (
        float((steps.next_observations[inside - 1] != steps.observations[inside]).any(axis=1).mean())
        if len(inside)
        else 0.0
    )
    last = ends[:-1] - 1
    borrowed = (steps.next_observations[last] == steps.observations[starts[1:]]).all(axis=1)
    still = (steps.next_observations[ends - 1] == steps.observations[ends - 1]).all(axis=1)
    missing = float((np.append(borrowed, still[-1]) | still).mean())
    found = [
        Measurement("repeats", "Repeated steps", repeated, f"{repeated:.1%} of the steps are exact copies of another"),
        Measurement("gaps", "Gaps", gaps, f"{gaps:.1%} of the steps do not begin where the last ended"),
        Measurement(
            "missing-next",
            "Missing last observations",
            missing,
            f"{missing:.0%} of the episodes lack the observation after their last step"
            + ("; what follows a time limit cannot be valued there" if missing > 0.5 else ""),
        ),
    ]  # fmt: skip
    return [*found, action_measurement(steps)]


def action_measurement(steps: Transitions) -> Measurement:
    """The range of the actions, and how often they are at its edge."""
    space, acts = steps.action_space, steps.actions
    if space.whole:
        values, counts = np.unique(acts[:, 0], return_counts=True)
        bars = tuple((f"{value:g}", float(n / len(acts))) for value, n in zip(values[:20], counts[:20], strict=True))
        most = float(counts.max() / len(acts))
        return Measurement(
            "actions", "Actions", most, f"{len(values)} different ones; {most:.0%} are the most frequent", bars=bars
        )
    width = np.where(space.high > space.low, space.high - space.low, 1.0)
    near = np.minimum(acts - space.low, space.high - acts) <= EDGE * width
    edge, fixed = float(near.any(axis=1).mean()), int((space.high == space.low).sum())
    told = f"between {space.low.min():.4g} and {space.high.max():.4g}; {edge:.0%} of the steps have one at the edge"
    if fixed:
        told += f"; {fixed} of {space.size} never change"
    if max(float(-space.low.min()), float(space.high.max())) > 1.0 + 1e-6:
        told += "; scale them to [-1, 1] for learners that squash"
    counts, edges = np.histogram(acts, BINS)
    bars = tuple(
        (f"{a:.3g} to {b:.3g}", float(n / acts.size)) for a, b, n in zip(edges, edges[1:], counts, strict=False)
    )
    return Measurement("actions", "Actions", edge, told, bars=bars)
