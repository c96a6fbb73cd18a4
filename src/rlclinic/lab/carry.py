"""A recipe that trains again what another run trained, whatever framework that was."""

from __future__ import annotations

from collections.abc import Iterable

from rlclinic.lab.assemble import Carried, assemble
from rlclinic.lab.backend import ALGORITHMS, default_framework
from rlclinic.lab.recipe import FIELDS, Recipe
from rlclinic.model.errors import UsageError
from rlclinic.model.run import Run

# Algorithms that the lab trains under another name.
SAME = {"MASKABLEPPO": "PPO", "RECURRENTPPO": "PPO", "APPO": "PPO", "DDPG": "TD3"}


def recipe_of_run(run: Run, trust: Iterable[str] = ()) -> Recipe:
    """The recipe of a run that was read; `carry` also tells what could not be carried over."""
    return carry(run, trust).recipe


def carry(run: Run, trust: Iterable[str] = ()) -> Carried:
    """The recipe of a run's canonical config, its framework's defaults included; only `trust` of it may be imported.

    Raises:
        UsageError: The run names no environment, or the lab has no trainer for its algorithm.
    """
    environment = run.environment or str(run.config.get("env_id") or "")
    if not environment:
        raise UsageError(
            "the run does not name its environment",
            path=run.path,
            hint="name its trainer with --command",
        )
    algorithm = SAME.get(run.algorithm.upper(), run.algorithm.upper())
    own = _setting(run, "framework")
    chosen = own if isinstance(own, str) and own in ALGORITHMS else run.framework
    if algorithm not in ALGORITHMS.get(chosen, ()):
        chosen = default_framework(algorithm)
    values: dict[str, object] = {name: setting.value for name, setting in run.config.settings.items()}
    logged = logged_rate(run)
    if logged is not None:
        values["learning_rate"] = logged
    values |= {key: _setting(run, key) for key in FIELDS if key not in values and _setting(run, key) is not None}
    if run.budget is not None:
        values["total_steps"] = run.budget
    elif "total_steps" not in values and run.env_steps:
        values["total_steps"] = run.env_steps
    if run.threshold is not None:
        values["threshold"] = run.threshold
    if run.framework != "rlclinic":
        # Other frameworks count evaluations in their own units.
        values.pop("eval_freq", None)
        values.pop("device", None)
    values |= {"framework": chosen, "algorithm": algorithm, "env_id": environment}
    carried = assemble(values, foreign=run.framework != "rlclinic", trust=trust)
    notes = [] if algorithm == run.algorithm.upper() else [f"{run.algorithm} is trained as {algorithm}"]
    if not any(not setting.is_default for name, setting in run.config.settings.items() if name not in FIELDS):
        notes.append(f"the run records no hyperparameters: the defaults of {chosen} are used")
    return Carried(carried.recipe, (*notes, *carried.left_out))


def logged_rate(run: Run) -> float | None:
    """The learning rate that a run logged first, where its files do not tell the one it was set to."""
    told = run.config.settings.get("learning_rate")
    series = run.series.get("learning_rate")
    if series is None or (told is not None and not told.is_default):
        return None
    finite = series.values[series.values == series.values]
    return float(finite[0]) if finite.size else None


def _setting(run: Run, key: str) -> object:
    found = run.config.native.get(key)
    return None if found is None else found.value
