"""Play whole episodes with the current policy on seeds that training never uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray

if TYPE_CHECKING:
    from rlclinic.lab.recipe import Recipe

# Added to the seed of the recipe: far from the seeds of any number of training environments.
SEED_OFFSET = 1_000_000
# Environments that are stepped together, so that one forward pass serves all.
TOGETHER = 16
# An environment without a time limit must not hold up training for ever; in env steps of one episode.
LONGEST = 100_000

Act = Callable[..., Any]
"""A batch of observations -> a batch of actions. Holds the current weights and frozen normaliser statistics. One with
`begin(count)` and `rewarded(at, reward)` follows its episodes, and is told the place of each observation."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Episodes of one evaluation."""

    returns: FloatArray
    lengths: FloatArray
    truncated: FloatArray
    """1 for episodes that a time limit ended."""

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(self.returns.mean())


def evaluate(recipe: Recipe, act: Act, *, episodes: int | None = None, seed: int | None = None) -> Evaluation:
    """Play episodes; episode i always starts from the same seed, so evaluations compare like with like."""
    from rlclinic.lab.environments import make_environment

    count = recipe.eval_episodes if episodes is None else episodes
    first = (recipe.seed if seed is None else seed) + SEED_OFFSET
    environments = [make_environment(recipe) for _ in range(min(count, TOGETHER))]
    try:
        results = []
        for start in range(0, count, TOGETHER):
            seeds = range(first + start, first + min(start + TOGETHER, count))
            results += _play(environments, act, list(seeds))
    finally:
        for environment in environments:
            environment.close()
    columns = np.asarray(results, dtype=np.float64).T
    return Evaluation(*columns)


def _play(environments: list[Any], act: Act, seeds: list[int]) -> list[tuple[float, float, float]]:
    results = [(0.0, 0.0, 0.0)] * len(seeds)
    active = list(range(len(seeds)))
    current = [environments[at].reset(seed=seed)[0] for at, seed in enumerate(seeds)]
    follows: Any = act if hasattr(act, "begin") else None
    if follows:
        follows.begin(len(seeds))
    while active:
        seen = _stack([current[at] for at in active])
        actions = act(seen, active) if follows else act(seen)
        going = []
        for at, action in zip(active, actions, strict=True):
            current[at], reward, terminated, truncated, _ = environments[at].step(action)
            if follows:
                follows.rewarded(at, float(reward))
            total, length, _ = results[at]
            length += 1
            ended = terminated or truncated or length >= LONGEST
            results[at] = (total + float(reward), length, float(ended and not terminated))
            if not ended:
                going.append(at)
        active = going
    return results


def _stack(observations: list[Any]) -> Any:
    if isinstance(observations[0], dict):
        return {key: np.stack([one[key] for one in observations]) for key in observations[0]}
    return np.stack([np.asarray(one) for one in observations])
