"""Whether an algorithm fits an environment's spaces."""

from __future__ import annotations

from typing import Any

from rlclinic.lab.recipe import Recipe
from rlclinic.model.errors import UsageError

# Algorithms that take only some action spaces, by the space's class name; the others take all.
TAKES = {
    "DQN": ("Discrete",),
    "QRDQN": ("Discrete",),
    "SAC": ("Box",),
    "TD3": ("Box",),
    "TQC": ("Box",),
}
# Algorithms that can tune their entropy bonus.
TUNED = frozenset({"SAC", "TQC"})
COMMON = ("Discrete", "Box", "MultiDiscrete", "MultiBinary")
INSTEAD = {"Discrete": "PPO, A2C, DQN, QRDQN or TRPO", "Box": "PPO, SAC, TD3, TQC or TRPO"}


def check_fit(recipe: Recipe, action_space: Any) -> None:
    """UsageError where the algorithm cannot act in the environment."""
    kind = type(action_space).__name__
    if kind in TAKES.get(recipe.algorithm, COMMON):
        return
    described = {"Discrete": "discrete", "Box": "continuous"}.get(kind, kind)
    raise UsageError(
        f"{recipe.algorithm} does not fit the {described} actions of {recipe.environment} ({action_space})",
        hint=f"use {INSTEAD.get(kind, 'PPO or A2C')}",
    )


def check_temperature(recipe: Recipe) -> None:
    """UsageError where the algorithm is to tune an entropy bonus that it cannot."""
    bonus = recipe.get("ent_coef")
    if isinstance(bonus, str) and recipe.algorithm not in TUNED:
        raise UsageError(f"ent_coef = {bonus!r}", hint=f"a number: {recipe.algorithm} does not tune it")
