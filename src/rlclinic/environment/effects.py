"""What actions do, from the same state and with the same chance; and what differs with chance alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rlclinic.environment.chance import set_chance
from rlclinic.environment.clones import Simulator, State, same
from rlclinic.environment.play import now, step
from rlclinic.lab.instruments.flatten import Flatten
from rlclinic.model.environment_facts import NOT_MEASURED, ActionEffect
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import Space

HORIZON = 14
"""Steps over which an effect is looked for."""
STATES = 16
INNER_STATES = 6
"""States in which half of the range is tried too."""
MOST_CHOICES, MOST_DIMENSIONS = 8, 24
CLONES = 4
CHANCE = 104_729
ALIKE = 0.7
"""Share of the states in which chance shows that must go on alike for it to be noise."""
FEWEST_ALIKE = 6


@dataclass(frozen=True, slots=True)
class Effects:
    """What interventions showed."""

    effects: tuple[ActionEffect, ...]
    states: int
    observation_lag: int | None
    reward_lag: int | None


@dataclass(frozen=True, slots=True)
class _Differences:
    """Between two futures of one state."""

    lag: int | None
    reward_lag: int | None
    observation: float
    reward: float
    end: bool
    lasting: bool = False
    """Whether rewards differed after the step in which the actions did."""

    @property
    def anything(self) -> bool:
        return self.end or self.lag is not None or self.reward_lag is not None


@dataclass(frozen=True, slots=True)
class Noise:
    """What differed with chance alone between copies that then went on alike."""

    observation: FloatArray
    """Variance of each number."""
    reward: float
    states: int
    chances: float
    """Share of states from which chance leads to other states."""
    observation_chance: float
    reward_chance: float
    """Probability to see either differ in so many states if it did in less than one in ten."""


def effects_of(
    simulator: Simulator, states: list[State], space: Any, flat: Space, see: Flatten, std: FloatArray, end: float
) -> Effects:
    """Try both ends of every dimension, or every choice, in each of the states."""
    contrasts = contrasts_of(space, flat)
    seen: dict[str, list[_Differences]] = {name: [] for name, _, _ in contrasts}
    lags: list[int] = []
    reward_lags: list[int] = []
    tried = 0
    for state in states:
        if now() > end:
            break
        for name, one, other in contrasts:
            found = _contrast(simulator, state, space, see, std, one, other)
            seen[name].append(found)
            lags += [found.lag] if found.lag is not None else []
            reward_lags += [found.reward_lag] if found.reward_lag is not None else []
            if now() > end:
                break
        tried += 1
    inner, inner_lags = _inner(simulator, states[:INNER_STATES], space, see, std, contrasts, end)
    effects = tuple(
        ActionEffect(
            name,
            float(np.median([item.observation for item in items])),
            float(np.median([item.reward for item in items])),
            float(np.mean([item.anything for item in items])),
            float(np.mean([item.lasting for item in items])),
            inner.get(name, NOT_MEASURED),
        )
        for name, items in seen.items()
        if items
    )
    # A reward that is the same at both ends, as a cost of force is, differs on the way between.
    return Effects(effects, tried, min(lags, default=None), min([*reward_lags, *inner_lags], default=None))


def _inner(
    simulator: Simulator,
    states: list[State],
    space: Any,
    see: Flatten,
    std: FloatArray,
    contrasts: list[tuple[str, Any, Any]],
    end: float,
) -> tuple[dict[str, float], list[int]]:
    """For each dimension of a box: how often half of the way to either end did the same as the end itself.

    And when rewards showed that it did not.
    """
    found: dict[str, float] = {}
    lags: list[int] = []
    for name, high, low in contrasts if type(space).__name__ == "Box" else ():
        middle = (high + low) / 2
        same_at: list[bool] = []
        for state in states:
            if now() > end:
                return found, lags
            pairs = ((limit, ((middle + limit) / 2).astype(space.dtype)) for limit in (high, low))
            seen = [_contrast(simulator, state, space, see, std, *pair) for pair in pairs]
            lags += [one.reward_lag for one in seen if one.reward_lag is not None]
            same_at.append(not any(one.anything for one in seen))
        found[name] = float(np.mean(same_at))
    return found, lags


def contrasts_of(space: Any, flat: Space) -> list[tuple[str, Any, Any]]:
    """Pairs of actions that differ in one thing: its name, and both actions."""
    kind = type(space).__name__
    if kind == "Discrete":
        start = int(space.start)
        return [
            (str(start + at), start + at, start + (at + 1) % int(space.n))
            for at in range(min(int(space.n), MOST_CHOICES))
        ]
    if kind == "Box" and np.isfinite(flat.low).all() and np.isfinite(flat.high).all():
        middle = (flat.low + flat.high) / 2.0
        found = []
        for index in np.flatnonzero(flat.high > flat.low)[:MOST_DIMENSIONS].tolist():
            ends = []
            for value in (flat.high[index], flat.low[index]):
                action = middle.copy()
                action[index] = value
                ends.append(action.reshape(space.shape).astype(space.dtype))
            found.append((flat.name(index), ends[0], ends[1]))
        return found
    if kind in ("MultiDiscrete", "MultiBinary"):
        found = []
        for index in range(min(flat.size, MOST_DIMENSIONS)):
            one, other = np.zeros(flat.size, dtype=space.dtype), np.zeros(flat.size, dtype=space.dtype)
            other[index] = int(flat.high[index] - flat.low[index])
            found.append((flat.name(index), one.reshape(space.shape), other.reshape(space.shape)))
        return found
    return []


def _contrast(
    simulator: Simulator, state: State, space: Any, see: Flatten, std: FloatArray, one: Any, other: Any
) -> _Differences:
    """Take either action once, then the same ones; where nothing shows, hold them."""
    found = _pair(simulator, state, space, see, std, one, other, held=1)
    if found.anything:
        return found
    held = _pair(simulator, state, space, see, std, one, other, held=HORIZON)
    # When it shows cannot be told of actions that are held.
    return _Differences(None, None, held.observation, held.reward, held.end or held.anything)


def _pair(
    simulator: Simulator, state: State, space: Any, see: Flatten, std: FloatArray, one: Any, other: Any, held: int
) -> _Differences:
    pair = simulator.at(state, 2)
    for environment in pair:
        set_chance(environment, state.seed + CHANCE)
    space.seed(state.seed)
    first: int | None = None
    first_paid: int | None = None
    away, totals, differs, lasting = 0.0, [0.0, 0.0], False, False
    for at in range(HORIZON):
        later = space.sample()
        actions = (one, other) if at < held else (later, later)
        taken = []
        for environment, action in zip(pair, actions, strict=True):
            set_chance(environment, state.seed + CHANCE + at)
            taken.append(step(environment, action))
        a, b = (see(item[0]) for item in taken)
        totals = [total + item[1] for total, item in zip(totals, taken, strict=True)]
        if first is None and not (same(a, b) and _as_whole(taken[0][0], taken[1][0], len(a))):
            first = at
        if abs(taken[0][1] - taken[1][1]) > 1e-9:
            first_paid = at if first_paid is None else first_paid
            lasting = lasting or at >= held
        away = max(away, float(np.nan_to_num(np.abs(a - b) / std).max(initial=0.0)))
        ends = [item[2] or item[3] for item in taken]
        if any(ends):
            differs = ends[0] != ends[1]
            break
    return _Differences(first, first_paid, away, abs(totals[0] - totals[1]), differs, lasting)


def _as_whole(a: Any, b: Any, shown: int) -> bool:
    """Whether two observations are equal in all their numbers, where only some stand for them."""
    if isinstance(a, dict):
        return all(_as_whole(a[key], b[key], shown) for key in a)
    return not isinstance(a, np.ndarray) or a.size <= shown or np.array_equal(a, b)


def noise_of(simulator: Simulator, states: list[State], space: Any, see: Flatten, width: int, end: float) -> Noise:
    """Let copies of a state take the same action with other chance, then go on with the same chance.

    Where they go on alike, what differed was not in the state: it is noise of the sensor or of the reward.
    """
    variance, paid = np.zeros(width), []
    count = chances = alike = seen_apart = paid_apart = amounts = 0
    for state in states:
        if now() > end:
            break
        copies = simulator.at(state, CLONES)
        space.seed(state.seed)
        action, later = space.sample(), [space.sample() for _ in range(2)]
        firsts, rewards, thens = [], [], []
        over = False
        for place, environment in enumerate(copies):
            set_chance(environment, state.seed + CHANCE * (place + 1))
            observation, reward, terminated, truncated, _ = step(environment, action)
            firsts.append(see(observation))
            rewards.append(reward)
            over = over or terminated or truncated
        if over:
            continue
        for environment in copies:
            followed = []
            for at, action in enumerate(later):
                set_chance(environment, state.seed + at)
                observation, reward, terminated, truncated, _ = step(environment, action)
                followed.append(np.append(see(observation), reward))
                if terminated or truncated:
                    break
            thens.append(np.concatenate(followed))
        count += 1
        if all(same(then, thens[0]) for then in thens):
            variance += np.var(firsts, axis=0, ddof=1)
            paid.append(float(np.var(rewards, ddof=1)))
            apart = not all(same(first, firsts[0]) for first in firsts), len(set(rewards)) > 1
            seen_apart, paid_apart, alike = seen_apart + apart[0], paid_apart + apart[1], alike + any(apart)
            amounts += len({(first.tobytes(), reward) for first, reward in zip(firsts, rewards, strict=True)}) == CLONES
        else:
            chances += 1
    quiet = len(paid)
    if alike < ALIKE * (alike + chances) and not (amounts == alike >= FEWEST_ALIKE):
        # In a small task copies meet again by chance: that is no noise. Where no two ever were the same they did not.
        variance, paid = np.zeros(width), [0.0] * quiet
    return Noise(
        variance / quiet if quiet else np.full(width, NOT_MEASURED),
        float(np.mean(paid)) if paid else NOT_MEASURED,
        count,
        chances / count if count else NOT_MEASURED,
        _at_least(seen_apart, quiet),
        _at_least(paid_apart, quiet),
    )


def _at_least(seen: int, count: int, share: float = 0.1) -> float:
    """Binomial probability of so many or more."""
    return sum(math.comb(count, k) * share**k * (1.0 - share) ** (count - k) for k in range(seen, count + 1))
