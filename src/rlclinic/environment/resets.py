"""Resets: whether starts vary, seeds count, and nothing of an episode is left in the next."""

from __future__ import annotations

import copy
import random
from typing import Any
from unittest import mock

import numpy as np

from rlclinic.environment.chance import copy_chance, global_chance
from rlclinic.environment.clones import same
from rlclinic.environment.make import Make
from rlclinic.environment.play import reset, step
from rlclinic.lab.instruments.flatten import Flatten
from rlclinic.model.environment_facts import ResetFacts

SEEDS = 16
UNSEEDED = 8
COPIED = 4
"""Resets of two copies that must agree: with few starts one may by chance."""
STEPS = 120
"""Of the trajectories that are compared."""
ROUNDING = 1e-4
"""Difference, in spreads, that a solver may keep of the past. Trajectories that part by less part by rounding, which
chaos makes large later; what is left of an episode shows at once."""
SEED = 2024
TRIED = 3
"""Seeds from which a used copy must differ."""


def reset_facts(make: Make, used: Any, see: Flatten, known: ResetFacts) -> ResetFacts:
    """Reset fresh copies and a used one; `known` is what recorded episodes told."""
    one, two = make(), make()
    try:
        # Without a seed first: a seed would set the chance of what comes after.
        copies = [[see(reset(environment, None)) for _ in range(COPIED)] for environment in (one, two)]
        fixed = _fixed_chance(one)
        unseeded = [see(reset(one, None)) for _ in range(UNSEEDED)]
        starts = [see(reset(one, seed)) for seed in range(SEEDS)]
        distinct, distinct_unseeded = _distinct(starts), _distinct(unseeded)
        fresh = [_trajectory(make(), see) for _ in range(2)]
        departure = _departure(fresh[0], fresh[1])
        carried, chance = "", None
        if not departure:
            carried = _left(make, used, see)
            if carried:
                carried = _left(make, used, see, with_chance=True)
                chance = not carried
        return ResetFacts(
            starts=distinct,
            seeds=SEEDS,
            unseeded_starts=distinct_unseeded,
            unseeded=UNSEEDED,
            copies_same=all(map(same, *copies)) if distinct > 1 else None,
            reproducible=not departure,
            departure=departure,
            carried_over=bool(carried) if not departure else None,
            carried=carried,
            unseeded_chance=chance,
            stale=known.stale,
            leak=known.leak,
            leak_probability=known.leak_probability,
            same_starts=known.same_starts,
            fixed_chance=fixed,
        )
    finally:
        one.close()
        two.close()


def _fixed_chance(environment: Any) -> str:
    """What two resets without a seed set to the same number, whatever it was before."""
    seeds: list[list[Any]] = [[], []]
    states: list[tuple[Any, bytes]] = []
    plain = np.random.default_rng

    def told(seed: Any = None) -> Any:
        seeds[len(states)].append(seed)
        return plain(seed)

    for seed in (11, 12):
        global_chance(seed)
        with mock.patch.object(np.random, "default_rng", told):
            reset(environment, None)
        states.append((random.getstate(), np.random.get_state(legacy=False)["state"]["key"].tobytes()))
    if states[0][1] == states[1][1]:
        return "np.random.seed"
    if states[0][0] == states[1][0]:
        return "random.seed"
    numbers = [[one for one in row if isinstance(one, int)] for row in seeds]
    return f"np.random.default_rng({numbers[0][0]})" if numbers[0] and numbers[0] == numbers[1] else ""


def _left(make: Make, used: Any, see: Flatten, *, with_chance: bool = False) -> str:
    """What differs first between a used copy and fresh ones, from every seed: once may be a contact that flips."""
    found = ""
    for seed in range(SEED, SEED + TRIED):
        fresh, own = make(), make() if with_chance else None
        found = _departure(_trajectory(used, see, own, seed), _trajectory(fresh, see, None, seed))
        for environment in (fresh, own):
            if environment is not None:
                environment.close()
        if not found:
            break
    return found


def _trajectory(environment: Any, see: Flatten, like: Any = None, seed: int = SEED) -> list[tuple[Any, float, bool]]:
    """Steps from one seed with fixed actions; `like` lends its chance, so that only the state may differ."""
    global_chance(seed)
    space = copy.deepcopy(environment.action_space)
    space.seed(seed)
    actions = [space.sample() for _ in range(STEPS)]
    if like is not None:
        reset(like, seed)
        found = [(see(reset(environment, seed)), 0.0, False)]
        copy_chance(like, environment)
    else:
        found = [(see(reset(environment, seed)), 0.0, False)]
    global_chance(seed)
    for action in actions:
        observation, reward, terminated, truncated, _ = step(environment, action)
        found.append((see(observation), reward, terminated or truncated))
        if terminated or truncated:
            break
    return found


def _departure(a: list[tuple[Any, float, bool]], b: list[tuple[Any, float, bool]]) -> str:
    """What differs first between two trajectories; empty where nothing does, or where they part by rounding."""
    seen, paid = np.array([row[0] for row in b]), np.array([row[1] for row in b])
    seen, paid = (np.nan_to_num(part, posinf=0.0, neginf=0.0) for part in (seen, paid))
    spread = np.maximum(seen.std(axis=0), 1e-3 * np.abs(seen).max(axis=0) + 1e-9)
    pay = max(float(paid.std()), 1e-3 * float(np.abs(paid).max()), 1e-9)
    for at, (one, other) in enumerate(zip(a, b, strict=False)):
        away = np.where(np.isnan(one[0]) & np.isnan(other[0]), 0.0, np.abs(one[0] - other[0]) / spread)
        unpaid = np.isnan(one[1]) and np.isnan(other[1])
        moved, more = float(away.max(initial=0.0)), 0.0 if unpaid else abs(one[1] - other[1]) / pay
        if not moved <= ROUNDING:
            return "observation" if at else "start"
        if not more <= ROUNDING:
            return "reward"
        if one[2] != other[2]:
            return "end"
        if moved or more:
            return ""
    return ""


def _distinct(rows: list[Any]) -> int:
    return len({np.round(row, 9).tobytes() for row in rows})
