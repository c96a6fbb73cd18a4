"""The components of a reward, as they are logged."""

from __future__ import annotations

import re

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import Series

MIN_POINTS = 12
# Share of the scatter of a reward that its parts may leave unexplained where it is their weighted sum: rounding.
UNEXPLAINED = 0.05
# Names under `reward/` that are no component.
NOT_A_PART = frozenset({"reward/step", "reward/shaped", "reward/std", "reward/discriminator", "reward/total"})
# How parts are called that pay for a right answer.
ANSWER = re.compile(r"correct|accura|answer|exact|match|solve|solution|verif|\bem\b|math", re.IGNORECASE)
# And those that pay for its form.
FORMAT = re.compile(r"format|(?<![a-z])form(?![a-z])|tag|xml|struct|template|syntax", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RewardPart:
    """One component: its first and its late mean, and its variance, range and best value over the run."""

    series: Series
    first: float
    """Over a few points: a part may be learned or given up within a few updates."""
    late: float
    variance: float
    spread: float
    best: float
    early_points: int
    """That the first and the late mean are made of."""
    late_points: int


def answer_never_paid(facts: RunFacts) -> bool:
    """Whether the part that pays for a right answer, or the reward as a whole, is 0 at every point."""
    answers = [part for part in reward_parts(facts) if ANSWER.search(part.series.logged_as)]
    whole = facts.series("return/train")
    if answers:
        return all(part.spread == 0.0 == part.late for part in answers)
    return whole is not None and len(whole) >= MIN_POINTS and not whole.values.any()


def reward_parts(facts: RunFacts, family: str = "reward/", fewest: int = MIN_POINTS) -> tuple[RewardPart, ...]:
    """The components with enough finite points; those of held-out prompts are the family `reward_eval/`."""
    found = []
    for name, series in facts.run.series.items():
        values = series.values[np.isfinite(series.values)]
        if not name.startswith(family) or name in NOT_A_PART or values.size < fewest:
            continue
        early, end = max(3, values.size // 20), max(1, values.size // 5)
        first, late = float(np.mean(values[:early])), float(np.mean(values[-end:]))
        scatter, spread = float(np.var(values)), float(np.ptp(values))
        found.append(RewardPart(series, first, late, scatter, spread, float(values.max()), early, end))
    return tuple(found)


def weights_of_parts(facts: RunFacts) -> dict[str, float]:
    """What one unit of each part pays, where the reward is seen to be their weighted sum; else nothing."""
    whole, parts = facts.series("return/train"), [part.series for part in reward_parts(facts)]
    if whole is None or len(parts) < 2 or any(not np.array_equal(part.steps, whole.steps) for part in parts):
        return {}
    columns = np.array([part.values for part in parts]).T
    sound = np.isfinite(columns).all(axis=1) & np.isfinite(whole.values)
    columns, reward = columns[sound], whole.values[sound]
    if len(reward) < MIN_POINTS or np.linalg.matrix_rank(columns) < len(parts):
        return {}
    weights, *_ = np.linalg.lstsq(columns, reward, rcond=None)
    left = float(np.std(reward - columns @ weights))
    if left > UNEXPLAINED * float(np.std(reward)):
        return {}
    return {part.name: float(weight) for part, weight in zip(parts, weights, strict=True)}
