"""Where the effect of a change on the next environment is expected: a random-effects predictive interval.

Environments differ in how much a change does there (between-variance, DerSimonian and Laird 1986), and each was
measured on few trials (within-variance). The interval is for a new environment (Higgins, Thompson and Spiegelhalter
2009); where trials on the very environment exist, they pull it towards what they showed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from rlclinic.signals._robust import t_quantile

# Share of next environments that the interval is to cover.
COVERED = 0.8
# Standard deviation of an effect between seeds of one environment: that of the repair record.
BETWEEN_SEEDS = 0.1


def predictive(effects: Mapping[str, tuple[float, int]], own: str = "") -> tuple[float, float]:
    """The interval of the effect on a new environment, or on `own`, from (mean, trials) by environment."""
    within = {name: BETWEEN_SEEDS**2 / trials for name, (_, trials) in effects.items()}
    between = _between(effects, within)
    weights = {name: 1.0 / (within[name] + between) for name in effects}
    total = sum(weights.values())
    mean = sum(weights[name] * effects[name][0] for name in effects) / total
    variance = between + 1.0 / total
    if own in effects:
        share = between / (between + within[own]) if between > 0.0 else 0.0
        mean, variance = share * effects[own][0] + (1.0 - share) * mean, share * within[own] + (1.0 - share) / total
    reach = t_quantile(COVERED, max(len(effects) - 1, 1)) * math.sqrt(variance)
    return mean - reach, mean + reach


def _between(effects: Mapping[str, tuple[float, int]], within: Mapping[str, float]) -> float:
    weights = {name: 1.0 / variance for name, variance in within.items()}
    total = sum(weights.values())
    mean = sum(weights[name] * effects[name][0] for name in effects) / total
    spread = sum(weights[name] * (effects[name][0] - mean) ** 2 for name in effects)
    scale = total - sum(weight**2 for weight in weights.values()) / total
    return max(0.0, (spread - (len(effects) - 1)) / scale) if scale > 0.0 else 0.0
