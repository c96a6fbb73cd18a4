"""What recorded steps tell of the observation: what is dead, what scale it has, what it foretells, and when."""

from __future__ import annotations

import numpy as np

from rlclinic.facts.environment.regression import encoded, even, explained
from rlclinic.model.environment_facts import NOT_MEASURED, ObservationFacts
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import BoolArray, IntArray, Space, Transitions

BINS = 10
FEWEST = 200
"""Rows below which nothing is fitted."""
AGES = (0, 1, 2, 3, 5, 7, 10)
"""Steps back that an action's effect, and the origin of a reward, is looked for."""
MOST_FITTED = 64
"""Numbers of the observation beyond which nothing is fitted: there are too few rows for them."""
GRID = 64
"""Different values of each number up to which a space of amounts is a grid."""
CERTAIN = 12.0
"""Steps that would have differed within episodes by chance, of which none did: as likely as e^-12."""
EARLIER = 8
"""Steps back that an observation repeated exactly is looked for."""


def observation_facts(steps: Transitions, *, not_finite: int = 0, outside: float = 0.0) -> ObservationFacts:
    """The facts that follow from the steps alone."""
    space = steps.observation_space
    seen = np.concatenate([steps.observations, steps.next_observations[steps.ended]])
    finite = seen[np.isfinite(seen).all(axis=1)]
    if not len(finite):
        # One number that is never finite leaves the others as they are.
        finite = np.where(np.isfinite(seen), seen, 0.0) if len(seen) else np.zeros((1, space.size))
    mean, std = finite.mean(axis=0), finite.std(axis=0)
    low, high = finite.min(axis=0), finite.max(axis=0)
    live = std > 1e-7 * np.maximum(np.abs(mean), 1e-3)
    # What is never a number is not dead: it is not known.
    still = ~live & (np.isfinite(seen).any(axis=0) if len(seen) else ~live)
    zero = [
        index
        for index in np.flatnonzero(still).tolist()
        if low[index] == high[index] == 0.0 and _may_vary(space, index)
    ]
    sizes = np.sqrt((finite**2).mean(axis=0))[live]
    fitted = _fitted(steps)
    return ObservationFacts(
        kind=space.kind,
        names=tuple(space.name(index) for index in range(space.size)),
        mean=_numbers(mean),
        std=_numbers(std),
        histograms=tuple(_shares(finite[:, index]) for index in range(space.size)),
        ranges=tuple(zip(_numbers(low), _numbers(high), strict=True)),
        constant=tuple(int(index) for index in np.flatnonzero(still)),
        zero=tuple(int(index) for index in zero),
        duplicated=_duplicates(finite, live),
        typical_size=float(np.median(sizes)) if sizes.size and not space.whole else NOT_MEASURED,
        scale_ratio=float(std[live].max() / std[live].min()) if live.any() and not space.whole else NOT_MEASURED,
        not_finite=not_finite,
        outside=outside,
        repeated=_repeated(steps),
        explained=fitted[0],
        explained_by_past=fitted[1],
        action_lag=_action_lag(steps),
        hidden=_hidden(steps),
    )


def change(steps: Transitions) -> FloatArray:
    """What the step changed, of the numbers that ever change, in their own spreads."""
    moved = encoded(steps.observation_space, steps.next_observations) - encoded(
        steps.observation_space, steps.observations
    )
    std = moved.std(axis=0)
    found: FloatArray = moved[:, std > 1e-9] / std[std > 1e-9]
    return found


def can_be_fitted(steps: Transitions) -> bool:
    """Whether there are enough steps for the size of the observation."""
    return steps.observation_space.kind != "image" and steps.observation_space.size <= MOST_FITTED


def _fitted(steps: Transitions) -> tuple[float, float]:
    """How much of the change the present foretells, and how much with the two steps before."""
    if not can_be_fitted(steps):
        return NOT_MEASURED, NOT_MEASURED
    deep = steps.follows.copy()
    deep[1:] &= steps.follows[:-1]
    rows = even(np.flatnonzero(deep & sound(steps)))
    if len(rows) < FEWEST:
        return NOT_MEASURED, NOT_MEASURED
    seen, done = encoded(steps.observation_space, steps.observations), encoded(steps.action_space, steps.actions)
    targets = change(steps)[rows]
    now = np.concatenate([seen[rows], done[rows]], axis=1)
    past = np.concatenate([now, seen[rows - 1], done[rows - 1], seen[rows - 2], done[rows - 2]], axis=1)
    groups = steps.episodes[rows]
    return _mean(explained(now, targets, groups)), _mean(explained(past, targets, groups))


def _action_lag(steps: Transitions) -> int | None:
    """How old the action is whose effect shows first in the change of the observation."""
    if not can_be_fitted(steps):
        return None
    depth = depths(steps)
    rows = even(np.flatnonzero((depth >= AGES[-1]) & sound(steps)))
    if len(rows) < FEWEST:
        return None
    seen, done = encoded(steps.observation_space, steps.observations), encoded(steps.action_space, steps.actions)
    targets, groups = change(steps)[rows], steps.episodes[rows]
    base = _mean(explained(seen[rows], targets, groups, folds=2))
    gains = {
        age: _mean(explained(np.concatenate([seen[rows], done[rows - age]], axis=1), targets, groups, folds=2)) - base
        for age in AGES
    }
    best = max(gains, key=lambda age: gains[age])
    # A lag needs an effect that is clear, and clearly absent before.
    return best if gains[best] > 0.05 and gains[0] < 0.2 * gains[best] else (0 if gains[0] > 0.02 else None)


def depths(steps: Transitions) -> IntArray:
    """How many rows before each belong to the same stretch of its episode."""
    depth = np.zeros(len(steps), dtype=np.int64)
    for row, follows in enumerate(steps.follows.tolist()):
        depth[row] = depth[row - 1] + 1 if follows else 0
    return depth


def _repeated(steps: Transitions) -> float:
    """Share of observations that are one of an earlier step, in a space of amounts where that is no chance."""
    space, seen = steps.observation_space, steps.observations
    if space.kind != "box" or len(steps) < FEWEST:
        return NOT_MEASURED
    depth = depths(steps)
    keys = np.array([hash(row.tobytes()) for row in seen])
    few = max((len(np.unique(seen[:, at])) for at in range(space.size)), default=0) <= GRID
    with np.errstate(invalid="ignore", over="ignore"):
        moves = np.unique(np.round(steps.next_observations - seen, 6), axis=0)
    if few or len(moves) <= GRID or len(np.unique(keys)) < 0.05 * len(keys):
        # A grid, or steps of a few sizes: places come again because the agent does.
        return NOT_MEASURED
    again = np.zeros(len(steps), dtype=bool)
    moved = np.ones(len(steps), dtype=bool)
    moved[1:] = keys[1:] != keys[:-1]
    done = np.array([hash(row.tobytes()) for row in steps.actions])
    after = np.array([hash(row.tobytes()) for row in steps.next_observations])
    alike = same = 0
    for back in range(2, EARLIER + 1):
        repeat = (keys[back:] == keys[:-back]) & (depth[back:] >= back) & moved[back:]
        again[back:] |= repeat
        tried = repeat & (done[back:] == done[:-back])
        alike += int(tried.sum())
        same += int((tried & (after[back:] == after[:-back])).sum())
    if 2 * same > alike:
        # What was done there before leads where it led before: the agent came back.
        return 0.0
    return float(again[depth >= 2].mean()) if (depth >= 2).any() else NOT_MEASURED


def _hidden(steps: Transitions) -> float:
    """Share of steps that end or pay otherwise than the last one alike of another episode did.

    Where one differs from the last one alike of its own episode too, it is chance.
    """
    if steps.observation_space.kind == "image" or not len(steps):
        return NOT_MEASURED
    rows = np.concatenate([steps.observations, steps.actions], axis=1)
    outcomes = list(zip(steps.terminated.tolist(), np.sign(steps.rewards).tolist(), strict=True))
    before: dict[bytes, tuple[int, tuple[bool, float]]] = {}
    own = others = wrong = 0
    for row, episode, outcome in zip(rows, steps.episodes.tolist(), outcomes, strict=True):
        known = before.get(key := row.tobytes())
        if known is not None and known[0] == episode:
            own += 1
            if known[1] != outcome:
                return 0.0
        elif known is not None:
            others += 1
            wrong += known[1] != outcome
        before[key] = (episode, outcome)
    # Chance would have shown within episodes too.
    surprising = others > 0 and own * wrong / others > CERTAIN
    return wrong / others if surprising else 0.0 if others else NOT_MEASURED


def _duplicates(values: FloatArray, live: FloatArray) -> tuple[tuple[int, int], ...]:
    places = np.flatnonzero(live)[:200]
    found: dict[bytes, int] = {}
    pairs = []
    for place in places:
        key = values[:500, place].tobytes()
        if key in found:
            pairs.append((found[key], int(place)))
        found.setdefault(key, int(place))
    return tuple(pairs)


def _may_vary(space: Space, index: int) -> bool:
    return bool(space.high[index] > space.low[index])


def sound(steps: Transitions) -> BoolArray:
    """Rows without a number that is not finite."""
    found: BoolArray = (
        np.isfinite(steps.observations).all(axis=1)
        & np.isfinite(steps.next_observations).all(axis=1)
        & np.isfinite(steps.actions).all(axis=1)
        & np.isfinite(steps.rewards)
    )
    return found


def _mean(shares: FloatArray) -> float:
    known = shares[np.isfinite(shares)]
    return float(known.mean()) if known.size else NOT_MEASURED


def _shares(values: FloatArray) -> tuple[float, ...]:
    """Of the rows in each of some equal parts of the range; what never varies is in its middle."""
    low, high = values.min(), values.max()
    placed = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
    return _numbers(np.histogram(placed, BINS, (0, 1))[0] / len(values))


def _numbers(values: FloatArray) -> tuple[float, ...]:
    return tuple(float(f"{value:.6g}") for value in values)
