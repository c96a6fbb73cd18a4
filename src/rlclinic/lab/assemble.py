"""Build a recipe from canonical values: derived names settled, foreign ones left out, intervals set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rlclinic.lab.backend import backend_for
from rlclinic.lab.derive import settled
from rlclinic.lab.recipe import FIELDS, Recipe, recipe_of_config
from rlclinic.lab.translate import KNOWN, translated
from rlclinic.lab.values import shown, typed
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.tasks import task_of

# Budget where neither the user nor a reference names one; in env steps.
DEFAULT_STEPS = 100_000
# How many rows, evaluations and checkpoints a run of any length has at least.
ROWS, EVALUATIONS, CHECKPOINTS = 200, 20, 10
# Names that other frameworks have and that mean nothing to a training of the lab.
_IDENTITY = frozenset({"framework_version", "n_actions", "action_shape", "observation_shape", "device", "eval_async",
                       "total_updates", "total_epochs", "returns_type"})  # fmt: skip
_NEEDED = frozenset({"framework", "algorithm", "env_id", "total_steps"})


@dataclass(frozen=True, slots=True)
class Carried:
    """A recipe, and what of its source could not be carried over."""

    recipe: Recipe
    left_out: tuple[str, ...] = ()
    """Plain sentences."""


def assemble(
    values: Mapping[str, object], *, own_words: Iterable[str] = (), foreign: bool = False, trust: Iterable[str] = ()
) -> Carried:
    """The recipe of canonical values (`framework`, `algorithm` and `env_id` among them).

    `own_words` are the keys that the user wrote: a derived one among them wins over the basic one it replaces. A
    value that is none is an error, but is left out where the values are `foreign`: those of another framework's run.
    Of the environment and wrappers that the values name only `trust` may be imported.
    """
    given, unknown = translated(values)
    for name in set(unknown) & set(own_words):
        raise UsageError(f"{name} = {shown(unknown[name])}", hint=KNOWN[name])
    left_out = [f"{name} = {shown(value)} has no counterpart" for name, value in unknown.items()]
    if "env_id" not in given:
        raise UsageError("env_id is not set", hint="a Gymnasium id such as CartPole-v1, or module:Class")
    total = _total_steps(given)
    given = settled({**given, "total_steps": total}, total, frozenset(own_words))
    takes = set(backend_for(str(given["framework"])).hyperparameters(str(given["algorithm"])))
    config: dict[str, Any] = {}
    for name, value in given.items():
        if name in FIELDS or name in takes:
            try:
                config[name] = typed(name, value)
            except UsageError as error:
                if not foreign or name in _NEEDED:
                    raise
                left_out.append(f"{error.message} is no value here")
        elif name not in _IDENTITY:
            title = hyperparameters()[name].title if name in hyperparameters() else "no hyperparameter"
            left_out.append(f"{name} = {value!r} ({title}) is not taken by {given['framework']}'s {given['algorithm']}")
    if "threshold" in values:
        # An explicit null means none, also for a task that has one.
        config.setdefault("threshold", None)
    _intervals(config)
    return Carried(recipe_of_config(config, trust), tuple(left_out))


def default_threshold(environment: str) -> float | None:
    """The return at which a well-known task counts as solved."""
    task = task_of(environment)
    return task.threshold if task is not None else None


def _total_steps(values: Mapping[str, object]) -> int:
    value = typed("total_steps", values.get("total_steps", DEFAULT_STEPS))
    if not isinstance(value, int | float) or value < 1:
        raise UsageError(f"total_steps = {shown(value)}", hint="a whole number of env steps")
    return int(value)


def _intervals(config: dict[str, Any]) -> None:
    total = int(config["total_steps"])
    config.setdefault("threshold", default_threshold(str(config["env_id"])))
    config.setdefault("eval_freq", max(total // EVALUATIONS, 1))
    config.setdefault("checkpoint_freq", max(total // CHECKPOINTS, 1))
    config.setdefault("log_freq", max(total // ROWS, 1))
