"""Read one answer out of a trainer, and say so when it has the wrong shape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlclinic.probes.definition import Given, Query
from rlclinic.probes.environment import Ledger, WorldEnv
from rlclinic.probes.world import Seen

EPISODES = 8
"""Greedy episodes whose mean return is read; enough to see both starts of a world with chance in it."""
LONGEST = 50
"""Steps after which a greedy episode is given up; the longest episode of the ladder has seven."""


class WrongShape(Exception):  # noqa: N818 - reads as what it is
    """A method of the trainer returned something that a probe cannot use."""


def read(
    query: Query, trainer: Any, given: Given, ledgers: Sequence[Ledger], measured: Mapping[str, float]
) -> float | None:
    """The reading of a query; None where the trainer reports no such number."""
    if query.how == "contract":
        found = measured.get(query.key)
    elif query.how == "ledger":
        found = _from_ledgers(query.key, ledgers, trainer)
    elif query.how == "logged":
        found = _finite_or_none(trainer.logged().get(query.key))
    elif query.how == "temperature":
        found = _number(trainer.temperature(), "temperature()")
    elif query.how == "return":
        found = _greedy_return(trainer, given)
    elif query.how == "value" and not (hasattr(trainer, "value") or hasattr(trainer, "q")):
        found = None
    else:
        found = sum(weight * _at(query, trainer, given, seen) for weight, seen in query.terms)
    return None if found is None else found / query.unit


def _at(query: Query, trainer: Any, given: Given, seen: Seen) -> float:
    obs = np.asarray(seen, dtype=np.float32)
    if query.how == "value":
        return _value(trainer, given, obs)
    if query.how == "q":
        return _q(trainer, given, obs, query.action)
    if query.how == "network_input":
        return _number(np.asarray(trainer.network_input(obs)).reshape(-1)[:1], "network_input(obs)")
    if query.how == "probability":
        return _probability(trainer, given, obs, query.action)
    action = np.asarray(trainer.act(obs), dtype=np.float64).reshape(-1)
    wanted = len(given.world.actions.low)
    if action.size != wanted:
        raise WrongShape(f"act(obs) returned {action.size} number(s) for an action of {wanted}")
    low, high = given.world.actions.low[query.action], given.world.actions.high[query.action]
    # What the environment receives; an action far outside shows in the ledger.
    return float(np.clip(action[query.action], low, high))


def _value(trainer: Any, given: Given, obs: Any) -> float:
    if hasattr(trainer, "value"):
        return _number(trainer.value(obs), "value(obs)")
    if given.world.actions.kind == "discrete":
        return float(_q_vector(trainer, given, obs).max())
    if obs.size > len(given.world.observations[0]):
        # act() takes single frames; in a world that is read with a stack no action matters.
        action = (np.asarray(given.world.actions.low) + np.asarray(given.world.actions.high)) / 2
    else:
        action = trainer.act(obs)
    return _number(trainer.q(obs, np.asarray(action, dtype=np.float32)), "q(obs, action)")


def _q(trainer: Any, given: Given, obs: Any, action: Any) -> float:
    if given.world.actions.kind == "discrete":
        return float(_q_vector(trainer, given, obs)[int(action)])
    return _number(trainer.q(obs, np.asarray(action, dtype=np.float32)), "q(obs, action)")


def _q_vector(trainer: Any, given: Given, obs: Any) -> Any:
    values = np.asarray(trainer.q(obs), dtype=np.float64).reshape(-1)
    if values.size != given.world.actions.sizes[0]:
        raise WrongShape(f"q(obs) returned {values.size} number(s) for {given.world.actions.sizes[0]} actions")
    return values


def _probability(trainer: Any, given: Given, obs: Any, arm: int) -> float:
    count = given.world.actions.sizes[0]
    if not hasattr(trainer, "action_probabilities"):
        return float(int(np.asarray(trainer.act(obs)).reshape(-1)[0]) == arm)
    values = np.asarray(trainer.action_probabilities(obs), dtype=np.float64).reshape(-1)
    if values.size != count:
        raise WrongShape(f"action_probabilities(obs) returned {values.size} number(s) for {count} actions")
    return float(values[arm])


def _greedy_return(trainer: Any, given: Given) -> float:
    """Mean return of greedy episodes, one after the other, so that a memory that is not reset shows."""
    env = WorldEnv(given.world, default_seed=12_345)
    total = 0.0
    for _ in range(EPISODES):
        if hasattr(trainer, "begin_episode"):
            trainer.begin_episode()
        obs, _info = env.reset()
        for _step in range(LONGEST):
            action = trainer.act(obs)
            if given.world.actions.kind == "discrete":
                action = int(np.asarray(action).reshape(-1)[0])
            obs, reward, terminated, truncated, _info = env.step(action)
            total += reward
            if terminated or truncated:
                break
    return total / EPISODES


def _from_ledgers(key: str, ledgers: Sequence[Ledger], trainer: Any) -> float | None:
    steps = sum(ledger.steps for ledger in ledgers)
    if key == "outside":
        # From the first step on: a policy that learns to stay inside is still not clipped.
        return sum(ledger.outside for ledger in ledgers) / steps if steps else None
    if key == "lockstep":
        return _lockstep(ledgers)
    if key == "logged_steps":
        logged = _finite_or_none(trainer.logged().get("env_steps"))
        return None if logged is None or not steps else logged / steps
    raise ValueError(f"the ledger keeps no {key!r}")


def _lockstep(ledgers: Sequence[Ledger]) -> float | None:
    """The share of pairs of environments that drew the same starts in the same order."""
    shortest = min((len(ledger.starts) for ledger in ledgers), default=0)
    if len(ledgers) < 2 or shortest < 20:
        return None
    pairs = [(i, j) for i in range(len(ledgers)) for j in range(i)]
    return float(np.mean([ledgers[i].starts[:shortest] == ledgers[j].starts[:shortest] for i, j in pairs]))


def _finite_or_none(value: Any) -> float | None:
    return None if value is None or not math.isfinite(float(value)) else float(value)


def _number(value: Any, what: str) -> float:
    array = np.asarray(value, dtype=np.float64).reshape(-1)
    if array.size != 1:
        raise WrongShape(f"{what} returned {array.size} numbers instead of one")
    return float(array[0])
