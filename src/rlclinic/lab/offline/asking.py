"""What the user asks to learn from a data set, as a recipe; the returns in the data say what to expect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rlclinic.lab.asking import recipe_from
from rlclinic.lab.assemble import default_threshold
from rlclinic.lab.environments import check_environment
from rlclinic.lab.imitation.asking import ROUNDS, imitation_recipe, random_level
from rlclinic.lab.offline.data import load_dataset
from rlclinic.lab.offline.datasets import environment_of
from rlclinic.lab.offline.options import ALGORITHMS
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.spaces import spaces_of
from rlclinic.lab.trust import refusal
from rlclinic.model.errors import UsageError
from rlclinic.readers.transitions.trace import read_trace
from rlclinic.reference.algorithms import algorithm_name

CLONING = ("BC", "FILTERED-BC")
# Updates where no budget is set, and evaluations of a run.
UPDATES, EVALUATIONS = 5_000, 20
# Share of the way from a random policy to the better half of the data that counts as reached: some of that half was
# lucky in how it began, and of a smaller part most would be.
REACHED, BETTER = 0.8, 0.5
# Below this share of the way to the goal of a known task, even the better half is no goal.
NOTHING = 0.15


def offline_recipe(
    dataset: str, algorithm: str, environment: str = "", overrides: Sequence[str] = (), trust: Iterable[str] = ()
) -> Recipe:
    """The recipe of an offline run, with the goal set by the better half of the data.

    Raises:
        UsageError: The data, the environment or a setting does not fit; nothing was written.
    """
    name = algorithm_name(algorithm)
    if name not in (*CLONING, *ALGORITHMS):
        known = "bc, filtered-bc, td3-bc, iql, cql, decision-transformer"
        raise UsageError(f"no offline algorithm is called {algorithm!r}", hint=f"one of {known}")
    path = Path(dataset).resolve()
    if not path.exists():
        raise UsageError("no such data set", path=str(path), hint="npz, HDF5, Minari, CSV or parquet")
    own = {text.partition("=")[0] for text in overrides}
    task = _environment(path, environment, trust)
    if name in CLONING:
        whole = len(read_trace(path).rewards)
        sizes = {"total_steps": whole, "n_steps": -(-whole // ROUNDS)}
        rest = [f"{key}={value}" for key, value in sizes.items() if key not in own]
        recipe = imitation_recipe(task, str(path), name, (*overrides, *rest), trust)
    else:
        recipe = _trained(task, name, path, overrides, trust)
    # More updates cost little, and what they do to a policy that was good is worth knowing.
    return recipe if "stop_at_threshold" in own else recipe.with_changes({"stop_at_threshold": False})


def _trained(task: str, name: str, path: Path, overrides: Sequence[str], trust: Iterable[str]) -> Recipe:
    own = {key: value for key, _, value in (text.partition("=") for text in overrides)}
    total = own.get("total_steps", str(UPDATES))
    rest = [] if "total_steps" in own else [f"total_steps={UPDATES}"]
    if total.isdigit():
        every = max(int(total) // EVALUATIONS, 1)
        rest += [f"{key}={every}" for key in ("eval_freq", "log_freq") if key not in own]
    recipe = recipe_from(f"{task}:{name}", (*overrides, *rest, f"dataset={path}"), trust=(*trust, task))
    return recipe if "threshold" in own else recipe.with_changes({"threshold": _goal(recipe, path)})


def _environment(path: Path, named: str, trust: Iterable[str]) -> str:
    found = environment_of(path)
    if named and found and named != found:
        raise UsageError(
            f"its steps come from {found}, not from {named}", path=str(path), hint=f"--env {found}, or other data"
        )
    if not named and not found:
        raise UsageError("does not name its environment", path=str(path), hint="--env ENV")
    if not named and ":" in found and found not in trust:
        # A recipe trusts what the user asks for; this name he has not seen.
        raise refusal("environment", found, found)
    return named or found


def _goal(recipe: Recipe, path: Path) -> float:
    data, lowest = load_dataset(path, spaces_of(*check_environment(recipe))), random_level(recipe)
    goal = lowest + REACHED * (data.level(BETTER) - lowest)
    known = default_threshold(recipe.environment)
    return goal if known is None or goal > lowest + NOTHING * (known - lowest) else known
