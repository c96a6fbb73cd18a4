"""A panel of simple policies: what they earn shows whether a reward can be had, and whether too easily."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from rlclinic.environment.play import Act, Recorder, now, play
from rlclinic.model.environment_facts import NOT_MEASURED, PolicyReturns
from rlclinic.model.series import FloatArray

OTHER = 50_021
"""Between the seeds of an episode and of its actions: of one seed both would draw the same numbers."""
EPISODES = 6
LINEAR = 24
"""Random linear policies of which the best is kept: on many small tasks one of them does well."""
HOLDS = (5, 20, 60)
MOST_CONSTANT = 5
LONGEST = 1500
"""Steps of an episode of the panel."""

MakeAct = Callable[[int], Act]
"""A seed -> a policy."""


def policies_of(space: Any) -> Iterator[tuple[str, MakeAct]]:
    """The panel for an action space, the cheapest first; linear policies are searched apart."""
    kind = type(space).__name__
    if kind == "Discrete":
        for choice in range(int(space.start), int(space.start) + min(int(space.n), MOST_CONSTANT)):
            yield f"always {choice}", partial(_always_of, choice)
    elif kind == "Box" and np.isfinite(space.low).all() and np.isfinite(space.high).all():
        rest = np.clip(np.zeros(space.shape), space.low, space.high).astype(space.dtype)
        yield "at rest", partial(_always_of, rest)
        yield "always low", partial(_always_of, space.low)
        yield "always high", partial(_always_of, space.high)
        yield "back and forth", partial(_alternating, space.low, space.high)
    for hold in HOLDS:
        yield f"random, held {hold}", partial(_held, space, hold)


def random_policy(space: Any) -> Act:
    """Uniform actions."""
    return lambda observation: space.sample()


def linear_policy(space: Any, see: Callable[[Any], FloatArray], spread: FloatArray, seed: int) -> Act | None:
    """A random linear policy; None where actions or observations are of another kind."""
    kind, rng, width = type(space).__name__, np.random.default_rng(seed), len(spread)
    if not 0 < width <= 64:
        return None
    if kind == "Discrete":
        weights = rng.normal(size=(int(space.n), width)) / spread
        return lambda observation: int(np.argmax(weights @ np.nan_to_num(see(observation)))) + int(space.start)
    if kind == "Box" and np.isfinite(space.low).all() and np.isfinite(space.high).all():
        weights = rng.normal(size=(int(np.prod(space.shape)), width)) / spread
        middle, half = (space.low + space.high) / 2.0, (space.high - space.low) / 2.0
        return lambda observation: (
            middle + half * np.tanh(weights @ np.nan_to_num(see(observation))).reshape(space.shape)
        ).astype(space.dtype)
    return None


def returns_of(name: str, results: list[tuple[float, int]], record: Recorder) -> PolicyReturns:
    """The mean with its 95% interval, from a bootstrap; the results are the last that were recorded."""
    totals = np.array([total for total, _ in results])
    rng = np.random.default_rng(0)
    means = rng.choice(totals, (400, len(totals))).mean(axis=1) if len(totals) > 1 else totals
    low, high = np.quantile(means, [0.025, 0.975])
    task = np.array(record.outcomes[-len(results) :])
    told = len(task) == len(totals) and np.isfinite(task).all()
    return PolicyReturns(
        name,
        len(totals),
        float(totals.mean()),
        float(low),
        float(high),
        float(totals.std()),
        float(np.mean([length for _, length in results])),
        float(totals.max()),
        float(task.mean()) if told else NOT_MEASURED,
        float(task.std() / np.sqrt(len(task))) if told else NOT_MEASURED,
    )


def played(
    environment: Any, make: MakeAct, record: Recorder, *, episodes: int, seed: int, end: float
) -> list[tuple[float, int]]:
    """Episodes of a policy; those that time cut off count only where there is no other."""
    results = []
    for at in range(episodes):
        if at and now() > end:
            break
        results.append(play(environment, make(seed + at), record, seed=seed + at, end=end, longest=LONGEST))
    return results


def best_linear(
    environment: Any, space: Any, record: Recorder, spread: FloatArray, *, seed: int, end: float
) -> tuple[Act, list[tuple[float, int]]] | None:
    """The best of some random linear policies, by one episode each, and its episodes."""
    best: tuple[float, Act] | None = None
    for number in range(LINEAR):
        act = linear_policy(space, record.see, spread, number)
        if act is None or now() > end:
            break
        total, _ = play(environment, act, record, seed=seed + number, end=end, longest=LONGEST)
        if best is None or total > best[0]:
            best = total, act
    if best is None:
        return None
    chosen = best[1]
    return chosen, played(environment, lambda _: chosen, record, episodes=EPISODES, seed=seed + 500, end=end)


def _always_of(action: Any, seed: int) -> Act:
    return lambda observation: action


def _alternating(low: Any, high: Any, seed: int) -> Act:
    at = 0

    def act(observation: Any) -> Any:
        nonlocal at
        at += 1
        return low if at % 2 else high

    return act


def _held(space: Any, hold: int, seed: int) -> Act:
    rng = np.random.default_rng(seed)
    space.seed(seed + OTHER)
    action = space.sample()

    def act(observation: Any) -> Any:
        nonlocal action
        if rng.random() < 1.0 / hold:
            action = space.sample()
        return action

    return act
