"""What a training loop told so far, as a `Run` like one that was read from files."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from rlclinic.live.reduce import BoundedSeries
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.model.series import StepAxis
from rlclinic.readers.assemble import assemble
from rlclinic.readers.draft import DECIDED, Draft
from rlclinic.readers.place import Place

# Names that are followed; a loop that makes up new ones would fill the memory.
MOST_METRICS = 300
# Longest name of a metric, in characters.
LONGEST_NAME = 200
SOURCE = "live"


@dataclass(frozen=True, slots=True)
class About:
    """What a run is, as far as its owner says."""

    name: str = "live"
    framework: str = ""
    algorithm: str = ""
    environment: str = ""
    budget: float | None = None
    goal: float | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


class LiveRecord:
    """The metrics of one run in bounded memory."""

    def __init__(self, about: About) -> None:
        self.about = about
        self.step = 0.0
        self.axis: StepAxis | None = "env_steps"
        """What the steps count; None where the names of the framework tell."""
        self.points = 0
        self.left_out = 0
        """Points of metrics beyond the first 300."""
        self._series: dict[str, BoundedSeries] = {}

    def log(self, metrics: Mapping[str, Any], step: float) -> bool:
        """Take one row; whether a number in it is not finite."""
        now, broken = time.time(), False
        self.step = float(step)
        for name, value in metrics.items():
            number = scalar(value)
            if number is None:
                continue
            series = self._series.get(name)
            if series is None:
                if len(self._series) >= MOST_METRICS or not isinstance(name, str) or len(name) > LONGEST_NAME:
                    self.left_out += 1
                    continue
                series = self._series[name] = BoundedSeries()
            series.add(self.step, number, now)
            self.points += 1
            broken = broken or not math.isfinite(number)
        return broken

    def run(self) -> Run:
        """The run so far: still going, under the names that the vocabulary has for what was logged."""
        about = self.about
        # A place that does not exist: nothing beside the run may tell what it is.
        draft = Draft(Place(Path("/") / "live", ()), reader=SOURCE, framework=about.framework, name=about.name)
        draft.algorithm, draft.environment, draft.budget = about.algorithm, about.environment, about.budget
        for key, value in about.config.items():
            draft.setting(str(key), value)
        for name, series in self._series.items():
            steps, values, times = series.arrays()
            draft.metric(name, steps, values, SOURCE, wall_times=times, axis=self.axis)
        draft.clue(Status.RUNNING, "it is logged now", DECIDED)
        run = assemble(draft)
        running = RunStatus(Status.RUNNING, "it is logged now")
        return replace(run, path="", location=Path("/live"), status=running).with_goal(about.goal)


def scalar(value: object) -> float | None:
    """A number, or what holds one: a NumPy scalar, a tensor of one element. None for everything else."""
    if not isinstance(value, float | int):
        item = getattr(value, "item", None)
        if item is None or getattr(value, "size", 1) == 0:
            return None
        try:
            value = item()
        except Exception:
            # An array or tensor of several elements, or something else that is called so.
            return None
    if isinstance(value, bool) or not isinstance(value, float | int):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
