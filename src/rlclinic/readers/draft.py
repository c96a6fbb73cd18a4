"""What a reader collects from the files of a run, before it becomes a frozen Run.

Readers only say what stands in the files, under the names that stand there. Names, signs, step axes and
defaults are applied afterwards, once, in `assemble`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.config import Origin, Setting
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import bounded, bounded_array, moments, number
from rlclinic.model.run import Checkpoint, Episodes, LogExcerpt, SourceFile, Status
from rlclinic.model.series import FloatArray, StepAxis
from rlclinic.model.transitions import Observed
from rlclinic.readers.formats.logs.log_text import excerpts
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.place import Entry, Place
from rlclinic.readers.redaction.redact import REDACTED, mentionable, redact, redact_value, secrets_in

MAX_SETTINGS = 5_000


@dataclass(frozen=True, slots=True)
class RawMetric:
    """One logged metric with the step under which it was logged; its values are bounded, as those of a table are."""

    name: str
    steps: FloatArray
    values: FloatArray
    source: str
    wall_times: FloatArray | None = None
    axis: StepAxis | None = None
    """What the steps count, where the reader knows; else the framework's table says."""
    decimals: int | None = None
    caveat: str = ""
    window: str = ""

    def __post_init__(self) -> None:
        if self.wall_times is not None:
            object.__setattr__(self, "wall_times", moments(self.wall_times))


@dataclass(frozen=True, slots=True)
class RawTable:
    """Rows of numbers of which one column holds the step."""

    table: Table
    source: str
    axis: StepAxis | None = None
    """What a row counts where no column holds the step."""
    wall_times: FloatArray | None = None
    decimals: Mapping[str, int] = field(default_factory=dict)
    spare: bool = False
    """Whether it counts only where no other file logs a return: words and numbers of a console."""


@dataclass(frozen=True, slots=True)
class Clue:
    """A sign of how the run ended. The strongest wins."""

    state: Status
    reason: str
    strength: int


# Strengths of clues, so that readers agree on them.
DECIDED = 200  # rlclinic's own record, which every verb goes by
TOLD = 100  # the writer itself recorded how it ended
SEEN = 60  # a log shows it: a traceback, an interrupt, a last line
LIKELY = 30  # it follows from something else, such as a checkpoint called final


@dataclass(slots=True)
class Draft:
    """Everything found so far. Text is redacted on the way in."""

    place: Place
    reader: str = ""
    source: str = "files"
    framework: str = ""
    algorithm: str = ""
    environment: str = ""
    name: str = ""
    labels: list[str] = field(default_factory=list)
    """What else the user called the run's work: project, group and title of a tracker."""
    program: str = ""
    """The script that was started, where the run recorded it."""
    budget: float | None = None
    threshold: float | None = None
    started_at: float | None = None
    ended_at: float | None = None
    episodes: Episodes | None = None
    metrics: list[RawMetric] = field(default_factory=list)
    tables: list[RawTable] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)
    """Keys that are known from the run's command line or a trainer's state alone: a script has the other settings."""
    shadowed: list[Setting] = field(default_factory=list)
    """Other values of keys that an earlier file has set."""
    text_tags: set[str] = field(default_factory=set)
    log_marks: list[str] = field(default_factory=list)
    logs: list[LogExcerpt] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    clues: list[Clue] = field(default_factory=list)
    files: dict[str, SourceFile] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    """Files of which only a part was read."""
    identified: tuple[object, str] | None = None
    """What was known when the framework was last looked for, and which it was."""
    observed: Observed | None = None
    secrets: set[str] = field(default_factory=set)
    """What the name of a setting gave away: a log may mention it without the name."""

    def used(self, entry: Entry, kind: str) -> None:
        """Record that a file was read."""
        self.files[entry.relative] = SourceFile(entry.relative, kind, entry.size)

    def note(self, text: str) -> None:
        """Record something the user should know about the reading."""
        clean = redact(text)
        if clean not in self.notes:
            self.notes.append(clean)

    def problems(self, source: str, problems: tuple[str, ...]) -> None:
        """Record what a format could not read."""
        for problem in problems:
            self.note(f"{source}: {problem}")

    def clue(self, state: Status, reason: str, strength: int) -> None:
        """Record a sign of how the run ended."""
        self.clues.append(Clue(state, redact(reason), strength))

    def metric(
        self,
        name: str,
        steps: NDArray[np.generic],
        values: NDArray[np.generic],
        source: str,
        *,
        wall_times: FloatArray | None = None,
        axis: StepAxis | None = None,
        decimals: int | None = None,
        caveat: str = "",
        window: str = "",
    ) -> None:
        """Add a metric that carries its own steps."""
        self.metrics.append(
            RawMetric(
                name,
                np.asarray(steps, dtype=np.float64),
                bounded_array(values),
                source,
                wall_times,
                axis,
                decimals,
                caveat,
                window,
            )
        )

    def clean(self, key: str, value: object) -> object:
        """A value of the config as it may be told; what is left out of it is remembered."""
        clean = redact_value(key, bounded(value))
        if isinstance(value, str) and clean != value:
            found = (value,) if clean == REDACTED else secrets_in(value)
            self.secrets.update(text for secret in found for text in mentionable(secret))
        return clean

    def setting(self, key: str, value: object, file: str = "", line: int | None = None) -> None:
        """Add one value of the config. The first file that sets a key wins; what others say differently is kept."""
        if len(self.settings) + len(self.shadowed) >= MAX_SETTINGS:
            return
        setting = Setting(key, self.clean(key, value), key, Origin(file, line) if file else None)
        first = self.settings.setdefault(key, setting)
        elsewhere = first.origin is not None and bool(file) and first.origin.file != file
        # Tables write NaN or nothing for what was not set.
        missing = value is None or (isinstance(value, str) and not value)
        missing = missing or (isinstance(value, float) and math.isnan(value))
        if elsewhere and not missing and first.value != setting.value:
            self.shadowed.append(setting)

    def document(
        self,
        data: object,
        file: str,
        lines: Mapping[tuple[str | int, ...], int] | None = None,
        prefix: str = "",
    ) -> None:
        """Add a nested config, keys joined with dots."""
        for path, value in flatten(data):
            key = prefix + ".".join(str(part) for part in path)
            known = lines or {}
            self.setting(key, value, file, known.get(path, known.get((*path, 0))))

    def log(self, lines: list[str], file: str) -> None:
        """Keep what a log says about errors and warnings."""
        for excerpt in excerpts(lines):
            self.logs.append(LogExcerpt(excerpt.kind, file, excerpt.line, excerpt.text))

    def number(self, *keys: str) -> float | None:
        """The first of these config keys that holds a finite number."""
        found = (number(self.settings[key].value) for key in keys if key in self.settings)
        return next((value for value in found if value is not None), None)

    def text(self, *keys: str) -> str:
        """The first of these config keys that holds text."""
        for key in keys:
            setting = self.settings.get(key)
            if setting is not None and isinstance(setting.value, str) and setting.value:
                return setting.value
        return ""

    @property
    def metric_names(self) -> set[str]:
        """Every logged name that holds numbers."""
        names = {metric.name for metric in self.metrics}
        return names.union(*(raw.table.numbers for raw in self.tables))


def flatten(data: object) -> list[tuple[tuple[str | int, ...], object]]:
    """The leaves of nested mappings with their paths; lists are leaves."""
    leaves: list[tuple[tuple[str | int, ...], object]] = []
    pending: list[tuple[tuple[str | int, ...], object]] = [((), data)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, Mapping) and (value or not path):
            pending.extend(((*path, str(key)), item) for key, item in reversed(list(value.items())))
        elif path:
            leaves.append((path, value))
        if len(leaves) >= MAX_SETTINGS:
            break
    return leaves
