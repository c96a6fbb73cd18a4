"""How far two rewards are apart whatever potential or scale they carry: the EPIC distance.

Gleave et al. 2021, arXiv 2006.13900: both rewards are made canonical, which takes any potential out of them, and are
compared by their correlation over transitions. 0 means that they rank policies alike, 1 that one is the other's
opposite. Rewards are asked about transitions that the environment may not know, so they must be functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Reward = Callable[[Floats, Floats, Floats], Floats]
"""Rewards of states, actions and next states, row by row."""

SAMPLES = 64
"""States and actions drawn to take the mean over, for each transition."""


def reward_distance(
    one: Reward, other: Reward, states: Floats, actions: Floats, following: Floats, gamma: float, seed: int = 0
) -> float:
    """The distance over the given transitions; the same states and actions, drawn independently, are the coverage."""
    if not len(states) == len(actions) == len(following) or len(states) < 2:
        raise ValueError("states, actions and next states are rows of the same transitions")
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(len(states), size=SAMPLES) for _ in range(3)]
    canonical = [_canonical(reward, states, actions, following, gamma, drawn) for reward in (one, other)]
    spreads = [float(values.std()) for values in canonical]
    if min(spreads) <= 1e-9 * max(1.0, *(float(np.abs(values).max()) for values in canonical)):
        # A reward that is a potential alone says nothing; two of them say the same.
        return 0.0 if max(spreads) <= 1e-9 else math.sqrt(0.5)
    correlation = float(np.corrcoef(canonical[0], canonical[1])[0, 1])
    return math.sqrt(max(0.0, (1.0 - correlation) / 2.0))


def _canonical(
    reward: Reward, states: Floats, actions: Floats, following: Floats, gamma: float, drawn: list[NDArray[np.int64]]
) -> Floats:
    """R(s,a,s') + E[gamma R(s',A,S') - R(s,A,S') - gamma R(S,A,S')], the last being the same for every transition."""
    some_states, some_actions, some_next = states[drawn[0]], actions[drawn[1]], states[drawn[2]]

    def mean_from(places: Floats) -> Floats:
        count = len(places)
        rows = np.repeat(places, SAMPLES, axis=0)
        acted, reached = np.tile(some_actions, (count, 1)), np.tile(some_next, (count, 1))
        rewards: Floats = reward(rows, acted, reached).reshape(count, SAMPLES).mean(axis=1)
        return rewards

    overall = float(reward(some_states, some_actions, some_next).mean())
    return reward(states, actions, following) + gamma * mean_from(following) - mean_from(states) - gamma * overall
