"""Which settings go with better runs: effect sizes with intervals, honest about how many were tried.

Every split of a setting's values in two is looked at, the best one is kept, and its p value is that of the best split
of relabelled runs (a permutation test on the largest effect), so that looking at many splits costs nothing in honesty.
Over settings the values are corrected by Holm's method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rlclinic.comparison.interquartile_mean import interquartile_mean
from rlclinic.model.history import Separation
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.reference.hyperparameters import hyperparameters

# Observations on either side of a split; with fewer no relabelling is unlikely.
LEAST = 3
PERMUTATIONS = 2000
RESAMPLES = 1000
SEED = 20240229
# Agreement of two splits (correlation of their sides) from which on they cannot be told apart.
CONFOUNDED = 0.8
# Name under which the length of the runs is looked at beside the settings.
BUDGET = "total_steps"
# Words of values in a sentence.
MOST_VALUES = 4


@dataclass(frozen=True, slots=True)
class Observation:
    """One config, or one run, and how well it did."""

    settings: Mapping[str, object]
    score: float


@dataclass(frozen=True, slots=True)
class _Split:
    key: str
    side: NDArray[np.bool_]
    known: NDArray[np.bool_]
    words: tuple[str, str]
    """Of the values where `side` is true, and where it is false."""


def separations(observations: Sequence[Observation]) -> tuple[Separation, ...]:
    """The settings with a split that can be tested, the surest first."""
    scores = np.array([item.score for item in observations])
    best: dict[str, tuple[_Split, float, float]] = {}
    for key in sorted({key for item in observations for key in item.settings}):
        splits = _splits(key, observations)
        if splits:
            best[key] = _strongest(splits, scores)
    adjusted = _holm({key: p for key, (_, _, p) in best.items()})
    found = [_separation(best[key][0], best[key][1], adjusted[key], scores) for key in best]
    sides = {key: split for key, (split, _, _) in best.items()}
    named = [replace(item, confounded=_confounded(item.key, sides)) for item in found]
    return tuple(sorted(named, key=lambda item: (item.p_value, -abs(item.effect))))


def _splits(key: str, observations: Sequence[Observation]) -> list[_Split]:
    values = [item.settings.get(key) for item in observations]
    known = np.array([value is not None for value in values])
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    splits: list[_Split] = []
    if len(numbers) == int(known.sum()):
        at = np.array([float(value) if isinstance(value, int | float) else np.nan for value in values])
        levels = np.unique(at[known])
        for low, high in pairwise(levels):
            words = (_range(levels[levels <= low], "at most"), _range(levels[levels >= high], "at least"))
            splits.append(_Split(key, known & (at <= low), known, words))
    else:
        texts = [repr(value) if value is not None else "" for value in values]
        for text in sorted(set(texts) - {""}):
            side = np.array([item == text for item in texts])
            others = sorted(set(texts) - {"", text})
            splits.append(_Split(key, side, known, (text, _listed(others))))
    return [item for item in splits if min(int(item.side.sum()), int((item.known & ~item.side).sum())) >= LEAST]


def _range(levels: FloatArray, words: str) -> str:
    if levels.size == 1:
        return f"{levels[0]:g}"
    return f"{words} {levels[-1] if words == 'at most' else levels[0]:g}"


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - MOST_VALUES} more" if len(texts) > MOST_VALUES else ""
    return f"{', '.join(texts[:MOST_VALUES])}{more}"


def _strongest(splits: Sequence[_Split], scores: FloatArray) -> tuple[_Split, float, float]:
    """The split with the largest effect, the effect, and its p value among relabelled scores."""
    known = splits[0].known
    sides = np.array([split.side[known] for split in splits])
    wins = _wins(scores[known])
    effects = _deltas(sides, wins)
    random = np.random.default_rng(SEED)
    shuffled = random.permuted(np.tile(wins, (PERMUTATIONS, 1)), axis=1)
    largest = np.abs(_deltas(sides, shuffled)).max(axis=-1)
    gaps = [abs(float(scores[known][side].mean() - scores[known][~side].mean())) for side in sides]
    # Several splits may be perfect: the one with the widest gap is where the values change their meaning.
    chosen = max(range(len(splits)), key=lambda index: (round(abs(float(effects[index])), 9), gaps[index]))
    beyond = int((largest >= abs(effects[chosen]) - 1e-12).sum())
    return splits[chosen], float(effects[chosen]), (beyond + 1) / (PERMUTATIONS + 1)


def _deltas(sides: NDArray[np.bool_], wins: FloatArray) -> FloatArray:
    """Cliff's delta of every split; `wins` may have one row per relabelling.

    Wins over the own side cancel in the sum, so that only those over the other side are left.
    """
    inside = sides.sum(axis=1)
    result: FloatArray = wins @ sides.T.astype(float) / (inside * (sides.shape[1] - inside))
    return result


def _wins(scores: FloatArray) -> FloatArray:
    """For each score how many it beats minus how many beat it."""
    won: FloatArray = np.sign(scores[:, None] - scores[None, :]).sum(axis=1)
    return won


def _holm(values: Mapping[str, float]) -> dict[str, float]:
    ordered = sorted(values, key=lambda key: values[key])
    adjusted: dict[str, float] = {}
    worst = 0.0
    for index, key in enumerate(ordered):
        worst = max(worst, min(1.0, (len(ordered) - index) * values[key]))
        adjusted[key] = worst
    return adjusted


def _separation(split: _Split, effect: float, p_value: float, scores: FloatArray) -> Separation:
    inside, outside = scores[split.side], scores[split.known & ~split.side]
    first, second = split.words
    if effect < 0:
        inside, outside, first, second = outside, inside, second, first
    low, high = np.quantile(_resampled(inside, outside), [0.025, 0.975])
    table = hyperparameters()
    return Separation(
        split.key,
        table[split.key].title if split.key in table else split.key,
        first,
        second,
        int(inside.size),
        int(outside.size),
        abs(effect),
        float(low),
        float(high),
        interquartile_mean(inside.tolist()) - interquartile_mean(outside.tolist()),
        p_value,
    )


def _resampled(first: FloatArray, second: FloatArray) -> FloatArray:
    """Cliff's delta of bootstrap samples of both sides: a sample is how often each score was drawn."""
    random = np.random.default_rng(SEED)
    drawn = [random.multinomial(x.size, np.full(x.size, 1.0 / x.size), RESAMPLES) / x.size for x in (first, second)]
    deltas: FloatArray = ((drawn[0] @ np.sign(first[:, None] - second[None, :])) * drawn[1]).sum(axis=1)
    return deltas


def _confounded(key: str, splits: Mapping[str, _Split]) -> tuple[str, ...]:
    own = splits[key]
    found = []
    for other, split in splits.items():
        both = own.known & split.known
        if other == key or int(both.sum()) < 2 * LEAST:
            continue
        one, two = own.side[both].astype(float), split.side[both].astype(float)
        if one.std() > 0 and two.std() > 0 and abs(float(np.corrcoef(one, two)[0, 1])) >= CONFOUNDED:
            found.append(other)
    return tuple(found)
