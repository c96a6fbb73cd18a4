"""Who is imitated: a trained run, a function, or a file of demonstrations; with simulated weaknesses on request."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlclinic.lab.errors import ExpertFault
from rlclinic.lab.imitation.options import ImitationOptions
from rlclinic.lab.imitation.sb3_file import policy_of_file
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.lab.trust import refusal
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.store.children import allow_local

Label = Callable[[Any], Any]
"""One observation as the environment gives it -> the action that the expert would take."""


class ExpertGoneError(Exception):
    """The expert did not answer: its budget of labels is spent, or it has gone."""


@dataclass
class Expert:
    """Labels for states, counted, with the weaknesses that a simulated expert is given."""

    label: Label
    spaces: Spaces
    options: ImitationOptions
    random: np.random.Generator
    queries: int = 0
    gone: str = ""
    """Why it no longer answers; empty while it does."""

    def ask(self, observation: Any, share_used: float) -> NDArray[Any]:
        """A label that counts against the budget of queries."""
        budget, outage = self.options.optional("query_budget"), self.options.optional("expert_outage")
        if not self.gone and budget is not None and self.queries >= budget:
            self.gone = f"its budget of {budget:,.0f} labels is spent"
        if not self.gone and outage is not None and share_used >= outage:
            self.gone = "it no longer answers"
        if self.gone:
            raise ExpertGoneError(self.gone)
        self.queries += 1
        return self.answer(observation)

    def answer(self, observation: Any) -> NDArray[Any]:
        """What the expert says, as a row in the learner's terms: a class, or a point of [-1, 1]."""
        return self._weakened(learner_action(answered(self.label, observation), self.spaces))

    def _weakened(self, label: NDArray[Any]) -> NDArray[Any]:
        noise, second = self.options.number("expert_noise"), self.options.number("expert_inconsistency")
        if second and self.random.random() < second:
            label = (label + 1) % self.spaces.n_actions if self.spaces.n_actions else -label
        if not noise:
            return label
        if self.spaces.n_actions:
            wild = self.random.integers(self.spaces.n_actions)
            return np.asarray(wild) if self.random.random() < noise else label
        return np.clip(label + self.random.normal(0.0, noise, label.shape), -1.0, 1.0)


def answered(label: Label, observation: Any) -> NDArray[Any]:
    """The expert's action; ExpertFault where it raises instead."""
    try:
        return np.asarray(label(observation))
    except RlclinicError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise ExpertFault(f"the expert failed: {told}", hint="call it on one observation by hand") from error


def learner_action(action: NDArray[Any], spaces: Spaces) -> NDArray[Any]:
    """An action of the environment as the learner predicts it; ExpertFault where it is none."""
    hint = "check that the expert belongs to this environment"
    try:
        flat = action.astype(np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise ExpertFault(f"the expert's action {action!s:.80} is no number", hint=hint) from error
    if spaces.n_actions is not None:
        number = flat[0] - spaces.first_action if flat.size == 1 else -1.0
        # A number that is none compares false as well.
        if not (0 <= number < spaces.n_actions and number.is_integer()):
            told = f"the expert's action {action!s:.80} is outside the {spaces.n_actions} actions of the environment"
            raise ExpertFault(told, hint=hint)
        return np.asarray(int(number))
    if flat.size != spaces.action_size or not np.isfinite(flat).all():
        raise ExpertFault(f"the expert's action {action!s:.80} is no action of shape {spaces.action_shape}", hint=hint)
    low, high = spaces.low.reshape(-1), spaces.high.reshape(-1)
    unit: NDArray[Any] = np.clip(2 * (flat - low) / np.maximum(high - low, 1e-12) - 1, -1.0, 1.0)
    return unit


def is_file_of_steps(expert: str) -> bool:
    """Whether an expert is only known by what it did."""
    return Path(expert).suffix.lower() in {".npz", ".csv", ".parquet", ".hdf5", ".h5"} or (
        (Path(expert) / "data").is_dir() and not (Path(expert) / "config.json").is_file()
    )


def label_of(recipe: Recipe, expert: str, spaces: Spaces) -> Label:
    """The expert's policy: of a run that `rlclinic train` made, of a checkpoint of SB3, or a function of the user."""
    path = Path(expert)
    if path.exists():
        if path.is_dir():
            from rlclinic.lab.sb3.playing import policy_of

            _, act = policy_of(path, recipe.trust)
            return lambda observation: act(_batch(observation))[0]
        return policy_of_file(path, spaces)
    if ":" not in expert:
        raise UsageError("no such expert", path=expert, hint="a run's folder, an SB3 zip, or module:function")
    if expert not in recipe.trust:
        raise refusal("expert", expert, expert)
    module, _, name = expert.partition(":")
    allow_local(module)
    try:
        found = getattr(import_module(module), name, None)
    except ImportError as error:
        raise UsageError(f"the expert {expert} cannot be imported: {error}", hint="write module:function") from error
    if not callable(found):
        raise UsageError(f"{expert} is no function", hint="a function of one observation that gives an action")
    return found  # type: ignore[no-any-return]


def _batch(observation: Any) -> Any:
    if isinstance(observation, dict):
        return {key: np.asarray(value)[None] for key, value in observation.items()}
    return np.asarray(observation)[None]
