"""What the user asks to imitate, as a recipe. The expert is played first: its return is what to measure against."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.lab.asking import recipe_from
from rlclinic.lab.environments import check_environment
from rlclinic.lab.evaluation import evaluate
from rlclinic.lab.imitation.backend import demonstrations
from rlclinic.lab.imitation.expert import answered, is_file_of_steps, label_of, learner_action
from rlclinic.lab.imitation.options import ALGORITHMS, ImitationOptions
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.spaces import spaces_of
from rlclinic.model.errors import UsageError
from rlclinic.reference.algorithms import algorithm_name

# Rounds where no budget is set, and episodes by which expert and random policy are measured.
ROUNDS, EPISODES = 10, 10
# Share of the way from a random policy to the expert that counts as imitated.
IMITATED = 0.9


def imitation_recipe(
    environment: str, expert: str, algorithm: str = "dagger", overrides: Sequence[str] = (), trust: Iterable[str] = ()
) -> Recipe:
    """The recipe of an imitation, with the expert's return measured and the goal set by it.

    Raises:
        UsageError: The expert, the environment or a setting does not fit; nothing was written.
    """
    name = algorithm_name(algorithm)
    if name not in ALGORITHMS:
        raise UsageError(f"no imitation is called {algorithm!r}", hint=f"one of {', '.join(ALGORITHMS).lower()}")
    if Path(expert).is_dir():
        # `runs/@last` is another run as soon as this one has its folder.
        expert = str(Path(expert).resolve())
    own = {key: value for key, _, value in (text.partition("=") for text in overrides)}
    steps = own.get("n_steps", "500")
    rest = []
    if "total_steps" not in own and steps.isdigit():
        rest.append(f"total_steps={ROUNDS * int(steps)}")
    if "eval_freq" not in own:
        rest.append(f"eval_freq={steps}")
    trusted = (*trust, expert, environment)
    recipe = recipe_from(f"{environment}:{name}", (*overrides, *rest, f"expert={expert}"), trust=trusted)
    if "threshold" in own and "expert_return" in own:
        return recipe
    lowest, level = _levels(recipe, expert)
    measured: dict[str, object] = {} if "expert_return" in own else {"expert_return": level}
    if "threshold" not in own:
        measured["threshold"] = lowest + IMITATED * (level - lowest)
    return recipe.with_changes(measured)


def _levels(recipe: Recipe, expert: str) -> tuple[float, float]:
    """Mean return of a random policy and of the expert."""
    lowest, sizes, options = random_level(recipe), spaces_of(*check_environment(recipe)), ImitationOptions(recipe)
    if is_file_of_steps(expert):
        return lowest, float(demonstrations(expert, sizes, options.number("best_share")).returns.mean())
    label = label_of(recipe, expert, sizes)

    def act(seen: Any) -> Any:
        labels = np.asarray([learner_action(answered(label, one), sizes) for one in _rows(seen)])
        return sizes.to_environment(sizes.from_unit(labels))

    return lowest, evaluate(recipe, act, episodes=EPISODES).mean


def random_level(recipe: Recipe) -> float:
    """Mean return of a random policy."""
    space = check_environment(recipe)[1]
    space.seed(recipe.seed)
    return evaluate(recipe, lambda seen: [space.sample() for _ in _rows(seen)], episodes=EPISODES).mean


def _rows(seen: Any) -> list[Any]:
    if isinstance(seen, dict):
        return [dict(zip(seen, row, strict=True)) for row in zip(*seen.values(), strict=True)]
    return [*seen]
