"""The thresholds of the debugging guide, applied literally to the end of a run: a baseline, not a peer package."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

END = 0.1
"""Share of the rows at the end whose mean is judged."""

# In the guide's order: its tree stops at the first match, its alerts do not; all that match are told.
RULES: Sequence[tuple[str, str, Callable[[float], bool]]] = (
    ("explained-variance-negative", "explained_variance", lambda value: value < 0.0),
    ("entropy-collapsed", "entropy", lambda value: value < 0.01),
    ("gradient-explosion", "grad_norm", lambda value: value > 1e4),
    ("advantage-explosion", "advantage_abs_max", lambda value: value > 100.0),
    ("clip-fraction-high", "clip_fraction", lambda value: value > 0.3),
    ("clip-fraction-zero", "clip_fraction", lambda value: value == 0.0),
    ("action-std-collapsed", "action_std_min", lambda value: value < 0.01),
    ("q-divergence", "q_mean", lambda value: abs(value) > 1000.0),
    ("q-twins-part", "q_value_spread", lambda value: value > 100.0),
)


def thresholds(rows: Sequence[Mapping[str, float]]) -> tuple[list[str], int]:
    """The alarms, and how many rules had their metric."""
    alarms, checks = [], 0
    last = rows[-max(round(END * len(rows)), 1) :]
    if any(math.isnan(value) for row in rows for value in row.values()):
        alarms.append("not-a-number")
    for word, metric, fires in RULES:
        values = [row[metric] for row in last if metric in row and math.isfinite(row[metric])]
        if values:
            checks += 1
            if fires(sum(values) / len(values)):
                alarms.append(word)
    return alarms, checks
