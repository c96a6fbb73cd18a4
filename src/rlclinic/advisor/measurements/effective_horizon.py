"""How far ahead a task makes a learner look: acting greedily on the values of the random policy (Laidlaw et al. 2023).

GORP with k = 1: at each step every action is tried, random play goes on from there, and the action with the best mean
return is taken. Where that solves the task, about T^2 A^(1 + log_A m) steps are enough (arXiv 2304.09853).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlclinic.environment.make import maker_of
from rlclinic.environment.play import now, reset, step

TRIES = 4
"""Random continuations of an action."""
ACTIONS = 9
"""Actions that are tried of a continuous space."""
AHEAD = 200
"""Steps of a continuation."""
PAIRS, BETWEEN = 30, 7
"""Pairs that differ in one action, and steps of random play between them."""
SEED = 5


@dataclass(frozen=True, slots=True)
class Ahead:
    """What copies of an environment tell."""

    total: float
    """Return of one greedy episode."""
    length: int
    actions: int
    """Tried at each step."""
    over: bool
    """Whether the episode came to its end in time."""
    lags: tuple[int, ...]
    """From states of random play: steps until half of what another action changes in the reward was paid."""


def look_ahead(name: str, seconds: float) -> Ahead | None:
    """Play with copies of an environment; None where it has none. Runs in a child process: the code is the user's."""
    environment, end = maker_of(name)(), now() + seconds
    space = copy.deepcopy(environment.action_space)
    space.seed(SEED)
    discrete = type(space).__name__ == "Discrete"
    reset(environment, SEED)
    try:
        copy.deepcopy(environment)
    except Exception:
        # Windows, sockets and simulators in C cannot be copied.
        return None
    lags = _lags(environment, space, now() + 0.3 * seconds)
    reset(environment, SEED)
    total, length, over = 0.0, 0, False
    count = int(space.n) if discrete else ACTIONS
    while not over and now() < end:
        tried = [int(space.start) + at for at in range(count)] if discrete else [space.sample() for _ in range(count)]
        values = [sum(_played(environment, action, space) for _ in range(TRIES)) for action in tried]
        _, reward, terminated, truncated, _ = step(environment, tried[max(range(count), key=values.__getitem__)])
        total, length, over = total + reward, length + 1, terminated or truncated
    return Ahead(total, length, count, over, tuple(lags))


def _lags(environment: Any, space: Any, end: float) -> list[int]:
    """Pairs of copies that differ in one action: when their rewards part."""
    found: list[int] = []
    over = False
    while len(found) < PAIRS and now() < end:
        if over:
            reset(environment, None)
        ours, theirs = copy.deepcopy(environment), copy.deepcopy(environment)
        one, other = _course(ours, space, SEED), _course(theirs, space, SEED + 1)
        apart = np.abs(np.subtract(*(np.pad(paid, (0, AHEAD - len(paid))) for paid in (one, other))))
        if apart.sum() > 0:
            found.append(int(np.searchsorted(np.cumsum(apart), apart.sum() / 2.0)) + 1)
        for _ in range(BETWEEN):
            _, _, terminated, truncated, _ = step(environment, space.sample())
            over = terminated or truncated
            if over:
                break
    return found


def _course(environment: Any, space: Any, first: int) -> list[float]:
    """Rewards after a first action of its own; all further actions are the same for every course."""
    paid: list[float] = []
    space.seed(first)
    action = space.sample()
    space.seed(SEED)
    for _ in range(AHEAD):
        _, reward, terminated, truncated, _ = step(environment, action)
        paid.append(reward)
        if terminated or truncated:
            break
        action = space.sample()
    return paid


def _played(environment: Any, action: Any, space: Any) -> float:
    """What an action and random play after it earn from here."""
    there, total = copy.deepcopy(environment), 0.0
    for _ in range(AHEAD):
        _, reward, terminated, truncated, _ = step(there, action)
        total += reward
        if terminated or truncated:
            break
        action = space.sample()
    return total
