"""Episodes fall into two groups, good and bad, with hardly any in between.

What it sees: The returns of the last episodes form two clusters that are far apart against their own spread, both
present throughout.
Why it hurts: The mean return describes neither group. Whatever decides between them (the start state, a coin at one
decision, one of several parallel environments) decides the run.
Evidence needed: at least 60 single episodes in the last third of the run.
Looks alike: A policy that improves within the window, where the better group comes later.
What to change: Find what the bad episodes share (their start, their length, their environment) and train or evaluate
on those; report the share of each group instead of the mean.
References: Agarwal et al. 2021 (arXiv 2108.13264); Ashman et al. 1994 for the separation D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.model.series import FloatArray
from rlclinic.rules.environment._episodes import single_returns
from rlclinic.rules.patient import Patient
from rlclinic.rules.sighting import Sighting

MIN_EPISODES = 60
# Ashman's D: two normal groups are cleanly apart above 2; 4 leaves a visible gap.
APART = 4.0
# Least share of the smaller group, in the whole window and in each half of it.
SMALLEST = 0.15
SMALLEST_IN_HALF = 0.08


@dataclass(frozen=True, slots=True)
class Modes:
    """A split of returns into two groups."""

    low: float
    high: float
    low_share: float
    apart: float
    cut: float


def check(patient: Patient) -> Sighting | None:
    """Split the last third of the episodes at the best cut and see whether the groups are apart."""
    returns = single_returns(patient)
    if returns is None or returns.size // 3 < MIN_EPISODES or patient.is_language_model:
        return None
    window = returns[-(returns.size // 3) :]
    modes = _split(window)
    if modes is None or modes.apart < APART:
        return None
    halves = (window[: window.size // 2], window[window.size // 2 :])
    shares = [float(np.mean(half <= modes.cut)) for half in halves]
    if min(min(share, 1.0 - share) for share in shares) < SMALLEST_IN_HALF:
        return None
    summary = (
        f"of the last {window.size} episodes {100 * modes.low_share:.0f} % returned about {modes.low:.4g} and "
        f"{100 * (1 - modes.low_share):.0f} % about {modes.high:.4g}, with hardly any between "
        f"(separation {modes.apart:.3g})"
    )
    evidence = (
        patient.evidence("return/train", modes.apart, APART, note="Ashman's D of two groups, last third of episodes"),
        patient.evidence("return/train", modes.low_share, SMALLEST, note="share of the lower group"),
    )
    return Sighting(Severity.INFO, 0.7, summary, evidence)


def _split(values: FloatArray) -> Modes | None:
    """The cut with the least variance within the groups (Otsu)."""
    ordered = np.sort(values)
    count = ordered.size
    first, last = int(np.ceil(SMALLEST * count)), int(np.floor((1 - SMALLEST) * count))
    if not np.ptp(ordered) or last <= first:
        return None
    sums, squares = np.cumsum(ordered), np.cumsum(ordered**2)
    sizes = np.arange(first, last + 1, dtype=np.float64)
    at = sizes.astype(np.int64) - 1
    left = squares[at] - sums[at] ** 2 / sizes
    right = squares[-1] - squares[at] - (sums[-1] - sums[at]) ** 2 / (count - sizes)
    best = int(at[int(np.argmin(left + right))])
    low, high = ordered[: best + 1], ordered[best + 1 :]
    if ordered[best] == ordered[best + 1]:
        return None
    spread = float(np.sqrt(np.var(low) + np.var(high)))
    gap = float(np.mean(high) - np.mean(low))
    apart = float(np.sqrt(2.0)) * gap / max(spread, 1e-9 * max(gap, 1e-12))
    return Modes(float(np.mean(low)), float(np.mean(high)), low.size / count, min(apart, 1e6), float(ordered[best]))
