"""The floor of a task: what random actions earn."""

from __future__ import annotations

from statistics import fmean

from rlclinic.lab.recipe import Recipe


def random_return(recipe: Recipe, *, episodes: int, seed: int) -> float:
    """Mean return of random actions on the task of a recipe."""
    from rlclinic.lab.environments import make_environment

    environment = make_environment(recipe.trusted())
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
