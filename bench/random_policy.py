"""The floor of a task: what random actions earn."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from bench.repair.script import Script
from rlclinic.lab.recipe import Recipe


def random_return(recipe: Recipe | Script, *, episodes: int, seed: int) -> float:
    """Mean return of random actions on the task of a recipe."""
    environment = _made(recipe)
    environment.action_space.seed(seed)
    returns = []
    for episode in range(episodes):
        environment.reset(seed=seed + episode)
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, _ = environment.step(environment.action_space.sample())
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return fmean(returns)


def _made(recipe: Recipe | Script) -> Any:
    if isinstance(recipe, Script):
        from bench.repair.scripts.tasks import make

        return make(recipe.environment, recipe.fault)
    from rlclinic.lab.environments import make_environment

    return make_environment(recipe.trusted())
