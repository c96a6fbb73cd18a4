"""What is known to work, as changes to a recipe: the entry for its environment, else the middle of working configs."""

from __future__ import annotations

from rlclinic.lab.backend import backend_for
from rlclinic.lab.derive import settled
from rlclinic.lab.recipe import Recipe
from rlclinic.prescriptions.checks.constraints import dividing_batch
from rlclinic.reference.reference_configs import has_reference_config, reference_config
from rlclinic.reference.usual import Basis, how_unusual
from rlclinic.trials.space import SEARCHED, WHOLE

# Values within this many spreads of the middle are the user's choice and stay.
ORDINARY = 1.0


def is_known(recipe: Recipe) -> bool:
    """Whether there is an entry for this environment and algorithm."""
    return has_reference_config(recipe.environment, recipe.algorithm)


def known_changes(recipe: Recipe) -> dict[str, object]:
    """The changes that lead from a recipe to what is known to work; empty where it is there already."""
    found = _entry(recipe) if is_known(recipe) else _middle(recipe)
    n_steps, n_envs = found.get("n_steps", recipe.number("n_steps")), found.get("n_envs", recipe.n_envs)
    batch = found.get("batch_size", recipe.number("batch_size"))
    if recipe.number("n_epochs") is not None and n_steps and batch:
        found["batch_size"] = dividing_batch(float(str(batch)), float(str(n_steps)) * float(str(n_envs)))
    return {key: value for key, value in found.items() if value != recipe.get(key)}


def _entry(recipe: Recipe) -> dict[str, object]:
    takes = set(backend_for(recipe.framework).hyperparameters(recipe.algorithm))
    entry = settled(reference_config(recipe.environment, recipe.algorithm), recipe.total_steps)
    found = {key: value for key, value in entry.items() if key in takes}
    # A schedule that the entry does not have would starve its learning rate.
    if "learning_rate" in found and recipe.get("learning_rate_schedule") and "learning_rate_schedule" not in found:
        found["learning_rate_schedule"] = "constant"
    return found


def _middle(recipe: Recipe) -> dict[str, object]:
    """The middle of working configs for every value that lies outside of their spread."""
    found: dict[str, object] = {}
    for key in SEARCHED:
        value = recipe.number(key)
        away = None if value is None else how_unusual(key, value, algorithm=recipe.algorithm)
        if away is not None and away.basis is Basis.ALGORITHM and away.usual and abs(away.spreads) > ORDINARY:
            found[key] = _rounded(key, away.usual)
    return found


def _rounded(key: str, value: float) -> float:
    return max(1, round(value)) if key in WHOLE else float(f"{value:.3g}")
