"""The uncertainty of a weighted sum of correlated points."""

from __future__ import annotations

import math
from statistics import NormalDist

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.signals._robust import two_sided

STEPS = 3
"""Steps to the half width of an interval; it is then off by less than a hundredth."""


@dataclass(frozen=True, slots=True, eq=False)
class Error:
    """The uncertainty of one weighted sum of the points: a mixture of errors per level, the widest counts."""

    levels: tuple[tuple[tuple[tuple[float, float], ...], float], ...]
    """Per level: (weight, standard deviation) of each phi, and the degrees of freedom."""

    @property
    def deviation(self) -> float:
        """The standard error."""
        return max((_combined(parts) for parts, _ in self.levels), default=math.nan)

    def p_value(self, estimate: float) -> float:
        """Probability of an estimate at least as far from zero, were the truth zero."""
        if not self.levels:
            return math.nan
        return max(sum(w * _tail(estimate, s, dof) for w, s in parts) for parts, dof in self.levels)

    def half_width(self, confidence: float = 0.95) -> float:
        """Half the width of the interval around an estimate."""
        if not self.levels or self.deviation == 0.0:
            return self.deviation
        wanted = NormalDist().inv_cdf(0.5 + confidence / 2.0)
        width = wanted * self.deviation
        # The normal quantile of the p value is almost proportional to the width, so few steps are enough.
        for _ in range(STEPS):
            reached = NormalDist().inv_cdf(1.0 - min(max(self.p_value(width), 1e-12), 1.0 - 1e-12) / 2.0)
            width *= wanted / reached
        return width


def _tail(estimate: float, deviation: float, dof: float) -> float:
    if deviation > 0.0:
        return two_sided(estimate / deviation, dof)
    return 0.0 if estimate else 1.0


def _combined(parts: tuple[tuple[float, float], ...]) -> float:
    largest = max(s for _, s in parts)
    return largest * math.sqrt(sum(w * (s / largest) ** 2 for w, s in parts)) if largest > 0.0 else 0.0
