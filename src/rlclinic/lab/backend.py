"""What a training library offers to the lab, and which libraries there are."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from rlclinic.model.errors import UsageError
from rlclinic.reference.algorithms import TRAINED

if TYPE_CHECKING:
    from rlclinic.lab.recipe import Recipe
    from rlclinic.lab.session import Session

ALGORITHMS = TRAINED
# framework -> module with a `BACKEND` and what to install.
_MODULES = MappingProxyType(
    {
        "sb3": ("rlclinic.lab.sb3.backend", "rlclinic[train]"),
        "torchrl": ("rlclinic.lab.torchrl.backend", "rlclinic[torchrl]"),
        "rlclinic": ("rlclinic.lab.imitation.backend", "rlclinic[torchrl]"),
        "d3rlpy": ("rlclinic.lab.offline.backend", "rlclinic[torchrl]"),
    }
)


class Backend(Protocol):
    """A training library. Its heavy imports stay in its own folder."""

    def hyperparameters(self, algorithm: str) -> Mapping[str, object]:
        """Every canonical hyperparameter that the algorithm takes, with the library's default (None: no default)."""

    def check(self, recipe: Recipe) -> None:
        """Raise UsageError where the recipe cannot be trained: before anything is written."""

    def train(self, recipe: Recipe, session: Session) -> None:
        """Train until the budget is used or `session.should_stop()`.

        Contract: environments come from `environments.make_environments(recipe, session.episodes)`. Call
        `session.step(env_steps)` after every (vector) env step and stop soon when `session.should_stop()`. After
        every update call `session.after_update(env_steps, measure, act, save)`, at the end of training
        `session.finish(env_steps, measure, act, save)`. Where `session.resumed` is not None, begin with its state.
        """


def backend_for(framework: str) -> Backend:
    """The backend of a framework; UsageError with an install hint where its library is missing."""
    if framework not in _MODULES:
        raise UsageError(f"framework {framework!r}", hint=f"one of {', '.join(_MODULES)}")
    module, extra = _MODULES[framework]
    try:
        backend: Backend = import_module(module).BACKEND
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("rlclinic"):
            raise
        raise UsageError(f"training needs {error.name}", hint=f"pip install '{extra}'") from error
    return backend


def default_framework(algorithm: str) -> str:
    """The framework that trains an algorithm where the user names none."""
    for framework, algorithms in ALGORITHMS.items():
        if algorithm in algorithms:
            return framework
    known = ", ".join(dict.fromkeys(name for names in ALGORITHMS.values() for name in names))
    raise UsageError(f"no trainer for the algorithm {algorithm!r}", hint=f"one of {known}")
