"""Whether two sets of states come from one distribution: a classifier tells them apart, judged on held-out episodes.

Lopez-Paz & Oquab 2017, arXiv 1610.06545. Steps of one episode are alike, so halves are split and labels are permuted
by episode; splitting by step would find a difference everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from rlclinic.model.lazy_dataclass import dataclass

Floats = NDArray[np.float64]

PERMUTATIONS = 200
RIDGE = 1e-2
ROUNDS = 12
# Products of dimensions are features up to this many dimensions.
MOST_SQUARED = 16


@dataclass(frozen=True, slots=True)
class TwoSample:
    """How well a classifier tells two sets apart: 0.5 by chance, 1 always."""

    auc: float
    p_value: float
    episodes: int


def two_sample(
    states: Floats,
    episodes: NDArray[np.int64],
    is_second: NDArray[np.bool_],
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> TwoSample:
    """Compare states, each with the number of its episode and whether it belongs to the second set.

    Every episode belongs to one set, and each set needs at least two: one to learn from, one to judge by. Without
    permutations there is no p value, which is then 1.
    """
    names, owner = np.unique(episodes, return_inverse=True)
    label = np.zeros(names.size, dtype=bool)
    label[owner] = is_second
    if (label[owner] != is_second).any() or min(int(label.sum()), int((~label).sum())) < 2:
        raise ValueError("two episodes of each set are needed, each of one set alone")
    rng = np.random.default_rng(seed)
    held = np.zeros(names.size, dtype=bool)
    for group in (label, ~label):
        members = rng.permutation(np.flatnonzero(group))
        held[members[: members.size // 2]] = True
    features = _features(states)
    train, test = ~held[owner], held[owner]
    score = features[test] @ _logistic(features[train], is_second[train])
    found = _auc(score, is_second[test])
    tested, held_owner = np.flatnonzero(held), owner[test]
    chance = 0
    for _ in range(permutations):
        shuffled = label.copy()
        shuffled[tested] = rng.permutation(label[tested])
        chance += abs(_auc(score, shuffled[held_owner]) - 0.5) >= abs(found - 0.5)
    return TwoSample(found, (1 + chance) / (1 + permutations), int(names.size))


def _features(states: Floats) -> Floats:
    """Standardised dimensions, their products where there are few, and a constant."""
    spread = states.std(axis=0)
    plain = (states - states.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    parts = [np.ones((len(plain), 1)), plain]
    if plain.shape[1] <= MOST_SQUARED:
        first, second = np.triu_indices(plain.shape[1])
        parts.append(plain[:, first] * plain[:, second])
    return np.concatenate(parts, axis=1)


def _logistic(features: Floats, target: NDArray[np.bool_]) -> Floats:
    """Weights of a ridge-penalised logistic regression, by Newton's steps."""
    weights = np.zeros(features.shape[1])
    penalty = RIDGE * len(features) * np.eye(features.shape[1])
    for _ in range(ROUNDS):
        likely = 1.0 / (1.0 + np.exp(-np.clip(features @ weights, -30.0, 30.0)))
        slope = features.T @ (target - likely) - penalty @ weights
        bend = (features * (likely * (1.0 - likely))[:, None]).T @ features + penalty
        weights = weights + np.linalg.solve(bend, slope)
    return weights


def _auc(score: Floats, positive: NDArray[np.bool_]) -> float:
    """The chance that one of the second set scores above one of the first."""
    ranks, count = rankdata(score), int(positive.sum())
    others = positive.size - count
    return float((ranks[positive].sum() - count * (count + 1) / 2.0) / (count * others)) if count and others else 0.5
