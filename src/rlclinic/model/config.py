"""The hyperparameters of a run, under canonical names and under the user's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number

Basis = Literal["recorded", "script", "flag default", "constant", "open"]
"""How sure a value is, surest first: the run's own files say so; the training script passes it to the trainer; it is
the default of a flag, which the command line may have set; a constant of the script is named so. `open` is what only
the running script knew: its text is kept, it is no value, and no default takes its place."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written."""

    file: str
    """Relative to the run; empty where the value comes from no file (a default of the framework)."""
    line: int | None = None
    basis: Basis = "recorded"

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return place if self.basis in ("recorded", "script") else f"{place} ({self.basis})"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of a config."""

    key: str
    """Canonical name, or the user's own key where there is none."""
    value: object
    native_key: str
    """The key as the user writes it, nested keys joined with dots."""
    origin: Origin | None = None
    is_default: bool = False
    """True where the user set nothing and the framework's default applies."""

    @property
    def is_open(self) -> bool:
        """Whether only the running script knew the value."""
        return self.origin is not None and self.origin.basis == "open"

    @property
    def is_derived(self) -> bool:
        """Whether the value follows from others, so that nobody writes it: their keys are joined with a slash."""
        return " / " in self.native_key


@dataclass(frozen=True, slots=True)
class Config:
    """What the run was configured with."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    """By canonical hyperparameter; framework defaults are filled in and marked."""
    native: Mapping[str, Setting] = field(default_factory=dict)
    """Everything the user's files hold, by the user's own key."""
    shadowed: tuple[Setting, ...] = ()
    """What further files give for a key of `native`, where it differs from the value that counts."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        object.__setattr__(self, "native", MappingProxyType(dict(self.native)))

    def __reduce__(self) -> tuple[object, ...]:
        return Config, (dict(self.settings), dict(self.native), self.shadowed)

    def __contains__(self, name: str) -> bool:
        return name in self.settings

    def get(self, name: str, default: object = None) -> object:
        """The value of a canonical hyperparameter."""
        setting = self.settings.get(name)
        return default if setting is None else setting.value

    def number(self, name: str) -> float | None:
        """The value of a canonical hyperparameter if it is a finite number."""
        return number(self.get(name))
