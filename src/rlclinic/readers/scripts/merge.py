"""What a script says goes into a draft, below everything that the run's own files tell."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from rlclinic.model.config import Origin, Setting
from rlclinic.model.errors import RunReadError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.model.run import SourceFile
from rlclinic.readers.configs.normalise import canonical_settings, meaning, start_of_schedule
from rlclinic.readers.discover import split_name
from rlclinic.readers.draft import MAX_SETTINGS, Draft
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.identify import Tables, identify_algorithm, identify_environment, identify_framework
from rlclinic.readers.no_links import real, status
from rlclinic.readers.scripts.load import load_script
from rlclinic.readers.scripts.script import Script, ScriptValue
from rlclinic.reference.framework import Framework

# Open values that are told one by one.
MAX_TOLD = 5
# Algorithms that log the same names as another: what the log says and what the script says are both right.
LOGS_LIKE = {
    "MASKABLEPPO": "PPO", "RECURRENTPPO": "PPO", "DDPG": "TD3", "TQC": "SAC", "CROSSQ": "SAC", "QRDQN": "DQN",
}  # fmt: skip
# Frameworks that train with the same classes.
SAME_TRAINERS = ({"sb3", "sb3-zoo", "imitation", "rlclinic"}, {"verl", "search-r1"})

# How far the first logged learning rate may be from the one that was set, as a share.
SAME_RATE = 0.15

_VERSION = re.compile(r"-v\d+$")


@dataclass(frozen=True, slots=True)
class Identity:
    """What the run's own files tell."""

    framework: str
    algorithm: str
    environment: str

    def fits(self, algorithm: str) -> bool:
        """Whether the run may be of this algorithm."""
        return not self.algorithm or self.algorithm in (algorithm, LOGS_LIKE.get(algorithm))

    def is_of(self, environment: str) -> bool:
        """Whether the run's environment is this one; a name without a version is of any."""
        own, other = self.environment.rpartition("/")[2].lower(), environment.rpartition("/")[2].lower()
        if _VERSION.search(own) and _VERSION.search(other):
            return own == other
        return bool(own) and _VERSION.sub("", own) == _VERSION.sub("", other)


def identity_of(draft: Draft) -> Identity:
    """The identity of a draft before any script is asked."""
    framework = identify_framework(draft)
    tables = Tables(framework)
    configured = {name: item.value for name, item in canonical_settings(draft.settings, tables).items()}
    algorithm = identify_algorithm(draft, tables.own, configured)
    environment = identify_environment(draft, tables.own, configured)
    return Identity("" if framework == "unknown" else framework, algorithm, environment)


def merge_named(draft: Draft, name: str) -> None:
    """Add what a file that the user names says."""
    file, section = split_name(name)
    path = Path(file)
    if not path.is_file():
        raise RunReadError("no such file", path=file, hint="check the path given to --config")
    own = identity_of(draft)
    try:
        script = load_script(path, given=given(draft), section=section, environment=own.environment)
    except (FormatError, OSError) as error:
        raise RunReadError(f"no settings could be read: {error}", path=file, hint="name another --config") from None
    if script.algorithms and not any(own.fits(algorithm) for algorithm in script.algorithms):
        told = ", ".join(script.algorithms)
        draft.note(f"{path.name} trains {told} and the run is of {own.algorithm}: its settings are not taken")
        return
    if script.framework and own.framework and not are_related(own.framework, script.framework):
        draft.note(
            f"{path.name} is for {script.framework} and the run is of {own.framework}: its settings are not taken"
        )
        return
    others = environments(script, own)
    if own.environment and others and not any(own.is_of(other) for other in others):
        draft.note(f"{path.name} names {', '.join(others)}, the run's own files {own.environment}")
    if not merge(draft, script, path, own, is_named=True):
        draft.note(f"{path.name}: no setting in it is more than the run's own files tell")


def merge(draft: Draft, script: Script, path: Path, own: Identity, *, is_named: bool) -> int:
    """Add what a script of this run says; how many settings that were."""
    tables = Tables(own.framework or script.framework or "unknown")
    fitting = [name for name in script.algorithms if own.fits(name)]
    algorithm = fitting[0] if len(fitting) == 1 else own.algorithm
    names = {value.key: meaning(value.key, tables, algorithm) for value in script.values}
    taken = {name for key in draft.settings if (name := meaning(key, tables, algorithm))}
    shown = os.path.relpath(path, draft.place.folder)
    added: list[ScriptValue] = []
    for value in script.settings(names, algorithm):
        name = names[value.key]
        if name in taken or value.key in draft.settings or len(draft.settings) >= MAX_SETTINGS:
            continue
        if name == "env_id" and not _tells_environment(value, own, is_named=is_named):
            continue
        if name == "algorithm" and algorithm:
            continue
        file = (Path(shown).parent / value.file).as_posix() if value.file else shown
        clean = draft.clean(value.key, value.value)
        draft.settings[value.key] = Setting(value.key, clean, value.key, Origin(file, value.line, value.basis))
        added.append(value)
    draft.framework = draft.framework or own.framework or script.framework
    draft.algorithm = draft.algorithm or algorithm
    environment = next((other for other in environments(script, own) if own.is_of(other)), "")
    draft.environment = draft.environment or environment
    if added:
        draft.files[shown] = SourceFile(shown, "script", status(real(path)).st_size)
    _tell_open(draft, [value for value in added if value.basis == "open"], path.name)
    return len(added)


def are_related(one: str, other: str) -> bool:
    """Whether a run of one framework may be of a script of the other."""
    return one == other or any({one, other} <= group for group in SAME_TRAINERS)


def environments(script: Script, own: Identity) -> list[str]:
    """The environments that a script names in its code; the default of a flag is none, any run may have changed it."""
    tables = Tables(own.framework or script.framework or "unknown")
    found = [value for value in script.values if value.basis == "script" and meaning(value.key, tables) == "env_id"]
    return list(dict.fromkeys(str(value.value) for value in found))


def logged_rate(draft: Draft, tables: Framework) -> float | None:
    """The first learning rate that the run logged."""
    columns = [(metric.name, metric.values) for metric in draft.metrics]
    columns += [(name, values) for raw in draft.tables for name, values in raw.table.numbers.items()]
    for name, values in columns:
        found = tables.metrics.find(name)
        if found is not None and found[1][0].name == "learning_rate":
            return next((float(value) for value in values if np.isfinite(value)), None)
    return None


def differs(value: ScriptValue, logged: float | None) -> bool:
    """Whether a learning rate is not the one that the run logged first; a schedule has barely begun by then."""
    said = start_of_schedule(value.value) if isinstance(value.value, str) else number(value.value)
    return said is not None and logged is not None and abs(said - logged) > SAME_RATE * abs(logged)


def given(draft: Draft) -> dict[str, object]:
    """The run's own settings as the flags of a script, which has underscores for hyphens."""
    return {key.replace("-", "_"): setting.value for key, setting in draft.settings.items()}


def _tells_environment(value: ScriptValue, own: Identity, *, is_named: bool) -> bool:
    return not own.environment and value.basis != "open" and (is_named or value.basis == "script")


def _tell_open(draft: Draft, values: list[ScriptValue], name: str) -> None:
    if values:
        told = ", ".join(f"{value.key} = {value.value} (line {value.line})" for value in values[:MAX_TOLD])
        more = f" and {len(values) - MAX_TOLD} more" if len(values) > MAX_TOLD else ""
        draft.note(f"{name} leaves open what only its run knew: {told}{more}")
