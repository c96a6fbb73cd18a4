"""What a folder of runs has taught about one environment: the best configs, what separates them, what to try next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Basis, Change


class Aim(StrEnum):
    """What a suggestion is meant to improve."""

    CONVERGENCE = "faster convergence"
    STABILITY = "stability"
    SAMPLES = "sample efficiency"
    WALL_TIME = "wall time"


@dataclass(frozen=True, slots=True)
class PastConfig:
    """One config of the history, over its seeds."""

    label: str
    paths: tuple[str, ...]
    """The runs, one per seed."""
    framework: str
    algorithm: str
    steps: float
    """Steps that its runs took, in the middle."""
    final: float
    """Interquartile mean of the final returns."""
    final_low: float
    final_high: float
    area: float
    """Interquartile mean of the mean return up to the last step that all runs have."""
    steps_to_threshold: float | None
    """Middle over the seeds that reached it; None where fewer than half did."""
    swing: float
    """Mean fall from the best level to the end, as a share of the climb."""
    fps: float | None
    seconds: float | None
    settings: Mapping[str, object] = field(default_factory=dict)
    """Those that shape learning."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def __reduce__(self) -> tuple[object, ...]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return _rebuild, ({**fields, "settings": dict(self.settings)},)


@dataclass(frozen=True, slots=True)
class Separation:
    """A setting whose values go with better or worse runs."""

    key: str
    title: str
    better: str
    """The values of the better side, in words: `at most 0.001`."""
    worse: str
    better_count: int
    worse_count: int
    effect: float
    """Cliff's delta: 1 where every run of the better side beats every one of the other, 0 where it is a coin toss."""
    low: float
    """Lower end of its 95% bootstrap interval."""
    high: float
    difference: float
    """Interquartile mean of the better side minus that of the other, in units of the return."""
    p_value: float
    """Of an effect this large by chance, after all splits of this setting and all settings that were tried (Holm)."""
    confounded: tuple[str, ...] = ()
    """Settings that changed together with this one: the history cannot tell them apart."""

    @property
    def sure(self) -> bool:
        """Whether chance is an unlikely explanation."""
        return self.p_value < 0.05


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was tried around the best config, and what came of it."""

    label: str
    changes: tuple[Change, ...]
    """From the best config to this one."""
    final: float
    difference: float
    """Final return minus that of the best config."""
    runs: int
    steps: float
    """Steps that its runs took: fewer than those of the best config explain a lower return by themselves."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing to try next."""

    aim: Aim
    text: str
    basis: Basis
    source: str
    """What it rests on, in words."""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """Everything a folder of runs says about one environment and algorithm."""

    root: str
    environment: str
    algorithm: str
    """The algorithm the patterns are about: the one of the best config."""
    runs: int
    configs: int
    enough: bool
    """Whether there are configs, or at least runs, enough to look for patterns."""
    best: tuple[PastConfig, ...] = ()
    separations: tuple[Separation, ...] = ()
    """The surest first."""
    attempts: tuple[Attempt, ...] = ()
    """Configs that differ from the best in one or two settings."""
    suggestions: tuple[Suggestion, ...] = ()
    unit: str = "config"
    """What counts as one observation in the separations: `config` (over its seeds) or `run`."""
    notes: tuple[str, ...] = ()


def _rebuild(fields: dict[str, object]) -> PastConfig:
    return PastConfig(**fields)  # type: ignore[arg-type]
