"""The table of how much each finding speaks for each cause, loaded and validated."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.practice import practice
from rlclinic.model.diagnosis import Verdict
from rlclinic.reference.hyperparameters import hyperparameters

Direction = Literal["high", "low", "either"]
VERDICT = "verdict:"


@dataclass(frozen=True, slots=True)
class Knob:
    """The hyperparameter behind a cause and the direction in which it is wrong."""

    key: str
    direction: Direction


@dataclass(frozen=True, slots=True)
class Likelihood:
    """One cause's row."""

    prior: float
    weights: Mapping[str, float] = field(default_factory=dict)
    expects: Mapping[str, float] = field(default_factory=dict)
    knobs: tuple[Knob, ...] = ()
    """More than one where algorithms set the same thing by different hyperparameters."""

    @property
    def knob(self) -> Knob | None:
        """The first."""
        return self.knobs[0] if self.knobs else None


@cache
def likelihoods() -> Mapping[str, Likelihood]:
    """All rows by cause."""
    text = files(__package__).joinpath("likelihoods.toml").read_text(encoding="utf-8")
    return {cause: _row(cause, raw) for cause, raw in tomllib.loads(text).items()}


def _row(cause: str, raw: Mapping[str, Any]) -> Likelihood:
    if cause not in catalogue():
        raise ValueError(f"likelihoods.toml: {cause} is not in the catalogue")
    weights, expects = dict(raw.get("for", {})), dict(raw.get("expects", {}))
    for name in (*weights, *expects):
        if name.startswith(VERDICT):
            Verdict(name.removeprefix(VERDICT))
    knobs = tuple(Knob(**knob) for knob in raw.get("knobs", ()))
    unknown = [knob.key for knob in knobs if knob.key not in hyperparameters() and knob.key not in practice()]
    if unknown:
        raise ValueError(f"likelihoods.toml: {cause} has the unknown hyperparameters {', '.join(unknown)}")
    return Likelihood(float(raw["prior"]), weights, expects, knobs)
