"""Hydra overrides: TorchRL's scripts, verl, and any run that Hydra started."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.spelling import hydra_text
from rlclinic.readers.configs.forms import complement
from rlclinic.reference.framework import framework


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """Scripts name their schedule under a key of their own; what they cannot be told is refused."""
    own = {name: run.config.settings.get(name) for name in ("learning_rate", "learning_rate_schedule")}
    rate, course = own["learning_rate"], own["learning_rate_schedule"]
    changed = []
    if before.start != after.start:
        if rate is None or rate.is_default:
            raise CannotWrite("the config has no key for the learning rate")
        changed.append(Assignment(rate.native_key, before.start, after.start))
    if before.kind == after.kind and before.final == after.final:
        return changed
    if course is None or course.is_default or before.final != after.final:
        raise CannotWrite(f"the config has no key for a learning rate that is {after.kind} and ends at {after.final:g}")
    value: object = after.kind
    if isinstance(course.value, bool):
        value = after.kind == "linear"
    return [*changed, Assignment(course.native_key, course.value, value)]


NAMES = Names(rate=_rate)
TORCHRL_NAMES = Names(
    impossible={
        "log_std_init": "TorchRL's scripts build the policy in their utils; change its last layer there",
        "normalize_obs": "TorchRL's scripts normalise by a transform; add VecNorm to the environment",
        "normalize_reward": "TorchRL's scripts scale by a transform; add RewardScaling to the environment",
    },
    values={"tau": complement},
    rate=_rate,
)


def write(run: Run, assignments: Sequence[Assignment]) -> str:
    """`key=value`; `++` adds a key that the config does not show."""
    return " ".join(f"{_plus(run, item.key)}{item.key}={hydra_text(item.after)}" for item in assignments)


def refuses(run: Run, assignment: Assignment) -> str:
    """A key that neither the user's config nor the framework's table knows would be ignored by the script."""
    if not run.config.native or assignment.key in run.config.native or _of_table(run, assignment.key):
        return ""
    return f"the config has no key {assignment.key}; the script would not read it"


def _of_table(run: Run, key: str) -> bool:
    return "." in key and key in set(framework(run.framework).hyperparameters)


def _plus(run: Run, key: str) -> str:
    return "++" if run.config.native and key not in run.config.native else ""


DIALECT = Dialect("hydra-overrides", "Hydra overrides", NAMES, write, refuses=refuses)
TORCHRL = Dialect("torchrl-overrides", "TorchRL: Hydra overrides", TORCHRL_NAMES, write, refuses=refuses)
