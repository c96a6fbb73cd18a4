"""A run as rules see it: series by name, levels of windows, what its algorithm has, the course of its return."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import numpy as np

from rlclinic.facts.returns import return_curve
from rlclinic.facts.settled import settled
from rlclinic.facts.window_noise import WindowNoise, window_noise
from rlclinic.model.finding import Evidence
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import TO_SIGMA
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.model.run import PERFORMANCE_METRICS, Run
from rlclinic.model.series import FloatArray, Series
from rlclinic.model.vocabulary import families_of
from rlclinic.signals._robust import median

if TYPE_CHECKING:
    from rlclinic.model.environment_facts import EnvironmentFacts

T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, eq=False)
class WindowLevel:
    """The robust level of a stretch of a series."""

    value: float
    first_step: float
    last_step: float
    values: FloatArray
    """The finite ones."""

    @property
    def points(self) -> int:
        return int(self.values.size)

    @cached_property
    def spread(self) -> float:
        """How far the values lie apart, as a standard deviation of their bulk."""
        return TO_SIGMA * median(np.abs(self.values - self.value))


def window_level(values: FloatArray, steps: FloatArray, start: float, end: float) -> WindowLevel | None:
    """The level between two shares of the points; None without a finite one."""
    count = int(values.size)
    first = max(0, min(int(start * count), count - 1))
    last = max(first + 1, math.ceil(end * count))
    part = values[first:last]
    is_finite = np.isfinite(part)
    finite = part if np.logical_and.reduce(is_finite) else part[is_finite]
    if not finite.size:
        return None
    return WindowLevel(median(finite), float(steps[first]), float(steps[min(last, count) - 1]), finite)


class RunFacts:
    """Everything that is measured about one run: once, when it is first asked for, and shared by all who judge it."""

    def __init__(
        self, run: Run, siblings: Callable[[], Sequence[Run]] = tuple, compared_with: Sequence[Run] = ()
    ) -> None:
        self.run = run
        self.compared_with = compared_with
        """Runs of the same task that the user names beside it."""
        self.memory: dict[object, object] = {}
        """What functions marked with `fact` found."""
        self._levels: dict[tuple[str, float, float], WindowLevel | None] = {}
        self._curves: dict[str, ReturnCurve | None] = {}
        self._siblings = siblings

    @cached_property
    def siblings(self) -> Sequence[Run]:
        """Other runs of the same config with another seed; read when they are first asked for."""
        return self._siblings()

    @cached_property
    def environment(self) -> EnvironmentFacts | None:
        """What is measured about the environment, by an examination or else by watching the training."""
        if self.run.examined is not None or self.run.observed is None:
            return self.run.examined
        from rlclinic.facts.environment.measure import facts_of

        return facts_of(self.run.observed, "observed")

    @property
    def measured(self) -> EnvironmentFacts:
        """The same for a rule that needs it; such a rule is asked only where it is there."""
        assert self.environment is not None
        return self.environment

    @cached_property
    def curve(self) -> ReturnCurve | None:
        """The curve of the return that says how well the agent does."""
        return return_curve(self.returns, self.window)

    @cached_property
    def window(self) -> WindowNoise | None:
        """What that return rests on where each of its points is a mean over past episodes."""
        return window_noise(self.returns, self.series("episode_length")) if self.returns is not None else None

    @cached_property
    def curves(self) -> dict[str, ReturnCurve]:
        """The curve of every return that was logged, by its canonical name."""
        own = self.run.returns.name if self.run.returns is not None else ""
        found = {name: self.curve if name == own else self.curve_of(name) for name in PERFORMANCE_METRICS}
        return {name: curve for name, curve in found.items() if curve is not None}

    def curve_of(self, *names: str) -> ReturnCurve | None:
        """The curve of the first of these series that is there, point by point as it was logged."""
        # A log may hold a metric of any name, the empty one included.
        name = next((name for name in names if self.series(name) is not None), None)
        if name is None:
            return None
        if name not in self._curves:
            series = self.series(name)
            self._curves[name] = self.curve if series is self.returns and self.window is None else return_curve(series)
        return self._curves[name]

    @cached_property
    def returns(self) -> Series | None:
        """That return, from where it knows more than the shortest episodes."""
        return settled(self.run)

    @cached_property
    def families(self) -> frozenset[str]:
        """Families of the run's algorithm: ppo, actor-critic, q-learning, continuous-q, language-model."""
        return families_of(self.run.algorithm)

    @property
    def is_on_policy(self) -> bool:
        return bool(self.families & {"ppo", "actor-critic"})

    @property
    def is_off_policy(self) -> bool:
        return bool(self.families & {"q-learning", "continuous-q"})

    @property
    def is_imitation(self) -> bool:
        """Whether it learns from labels: what env steps are to others, labels and fits are to it."""
        return "imitation" in self.families

    @cached_property
    def is_language_model(self) -> bool:
        return self.run.is_language_model or "loss/supervised" in self.run

    def series(self, name: str) -> Series | None:
        """A series with at least one finite value."""
        return self._finite.get(name)

    @cached_property
    def _finite(self) -> dict[str, Series]:
        return {name: series for name, series in self.run.series.items() if series.last is not None}

    def level(self, name: str, start: float = 0.0, end: float = 1.0) -> WindowLevel | None:
        """Median and robust spread of a stretch, given as shares of the series' own points."""
        key = name, start, end
        if key not in self._levels:
            series = self.run.series.get(name)
            self._levels[key] = None if series is None else window_level(series.values, series.steps, start, end)
        return self._levels[key]

    def early(self, name: str, share: float = 0.1) -> WindowLevel | None:
        """The level of the first part."""
        return self.level(name, 0.0, share)

    def late(self, name: str, share: float = 0.1) -> WindowLevel | None:
        """The level of the last part."""
        return self.level(name, 1.0 - share, 1.0)

    def setting(self, name: str) -> float | None:
        """A canonical hyperparameter if it is a finite number; trackers also write NaN for what was not set."""
        return self.run.config.number(name)

    @cached_property
    def max_entropy(self) -> float | None:
        """ln(number of actions) for discrete policies, where the number is known."""
        actions = self.run.config.number("n_actions")
        return math.log(actions) if actions and actions > 1 else None

    @property
    def progress(self) -> float | None:
        """Share of the budget that was used."""
        return self.run.steps / self.run.budget if self.run.budget else None

    def evidence(
        self,
        name: str,
        value: float,
        threshold: float | None = None,
        *,
        level: WindowLevel | None = None,
        note: str = "",
    ) -> Evidence:
        """One comparison on a series, under the name it was logged as."""
        series = self.run.series.get(name)
        logged = series.logged_as if series is not None else name
        steps = (level.first_step, level.last_step) if level is not None else None
        points = level.points if level is not None else (len(series) if series is not None else 0)
        return Evidence(name, logged, value, threshold, steps, points, note)


def fact(measure: Callable[Concatenate[RunFacts, P], T]) -> Callable[Concatenate[RunFacts, P], T]:
    """Mark a function that measures something about a run, or of it: it does so once for each `RunFacts`."""

    @wraps(measure)
    def once(facts: RunFacts, *of: P.args, **named: P.kwargs) -> T:
        key = (measure, *of, *named.items()) if of or named else measure
        try:
            return facts.memory[key]  # type: ignore[return-value]
        except KeyError:
            pass
        found = facts.memory[key] = measure(facts, *of, **named)
        return found

    return once  # type: ignore[return-value]
