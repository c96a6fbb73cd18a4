"""Which settings differ between runs, and which of the differences matter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TypeGuard

import numpy as np

from rlclinic.model.comparison import SettingDifference
from rlclinic.model.config import Setting
from rlclinic.model.run import Run
from rlclinic.prescriptions.assessment import LOGGED
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.tasks import log_position, reference_spread

# Groups of the table of hyperparameters whose members name a run rather than shape its learning.
NAMING = frozenset({"identity", "evaluation"})
# Members of those groups that do shape what is learned.
SHAPING = frozenset({"n_actions", "action_shape", "observation_shape"})
# What frameworks that only anneal or do not call the course of the learning rate.
COURSES = {"true": "linear", "false": "constant", "none": "constant", "fixed": "constant", "lineardecay": "linear"}
# Numbers closer than this share of their size are the same number, written in two ways.
RELATIVE = 1e-9
# The same for numbers of a log.
ROUNDED = 1e-5


def setting_differences(runs: Sequence[Run]) -> tuple[tuple[SettingDifference, ...], tuple[SettingDifference, ...]]:
    """The differences that matter, the farthest first; and those of seeds, names, paths and budgets."""
    table = hyperparameters()
    matters: list[SettingDifference] = []
    apart: list[SettingDifference] = []
    for key, entry in table.items():
        found = [setting_of(run, key) for run in runs]
        if not _differ(found, key):
            continue
        names_only = entry.group in NAMING and key not in SHAPING
        item = _difference(key, entry.title, found, None if names_only else _distance(key, runs, found))
        (apart if names_only else matters).append(item)
    for key in _native_keys(runs):
        found = [run.config.native.get(key) for run in runs]
        if all(item is not None for item in found) and _differ(found):
            item = _difference(key, key, found, None)
            (apart if any(_is_path(setting) for setting in found) else matters).append(item)
    matters.sort(key=lambda item: (item.distance is None, -(item.distance or 0.0)))
    return tuple(matters), tuple(apart)


def learning_settings(run: Run) -> dict[str, object]:
    """The settings that shape learning: what runs of several seeds have in common."""
    table = hyperparameters()
    return {
        key: setting.value
        for key in (*run.config.settings, *(name for name in LOGGED if name not in run.config))
        if key in table and (table[key].group not in NAMING or key in SHAPING)
        if (setting := setting_of(run, key)) is not None
    }


def setting_of(run: Run, key: str) -> Setting | None:
    """What the user set, else what the log shows of it, else the framework's default."""
    setting = run.config.settings.get(key)
    series = run.series.get(LOGGED.get(key, ""))
    if series is None or (setting is not None and not setting.is_default):
        return setting
    values = series.values[np.isfinite(series.values)]
    # A value that rises above its start follows the run, such as a rate that adapts to the KL.
    if not values.size or values.max() > values[0] * (1 + ROUNDED):
        return setting
    # Logs keep seven digits.
    return Setting(key, float(f"{values[0]:.6g}"), series.logged_as)


def own_settings(run: Run) -> dict[str, object]:
    """The settings under the user's own keys that stand for no canonical one and name no run."""
    known = {setting.native_key for setting in run.config.settings.values()}
    return {key: item.value for key, item in run.config.native.items() if key not in known and not _is_path(item)}


def distance(key: str, algorithm: str, first: object, second: object) -> float | None:
    """Between two values in spreads of working configs; None where that has no meaning."""
    spread = reference_spread(algorithm).get(key)
    here, there = _place(key, first), _place(key, second)
    if spread is None or here is None or there is None:
        return None
    return abs(here - there) / spread[1]


def _distance(key: str, runs: Sequence[Run], found: Sequence[Setting | None]) -> float | None:
    """The largest distance between two runs of one algorithm: a value means something else in another."""
    far: list[float] = []
    for algorithm in {run.algorithm for run in runs}:
        own = [item.value for run, item in zip(runs, found, strict=True) if item and run.algorithm == algorithm]
        ordered = sorted(float(value) for value in own if _is_number(value))
        apart = distance(key, algorithm, ordered[0], ordered[-1]) if len(ordered) > 1 else None
        far += [apart] if apart else []
    return max(far, default=None)


def _place(key: str, value: object) -> float | None:
    return log_position(key, float(value)) if _is_number(value) else None


def _difference(key: str, title: str, found: Sequence[Setting | None], far: float | None) -> SettingDifference:
    return SettingDifference(
        key,
        title,
        tuple(None if setting is None else setting.value for setting in found),
        far,
        tuple(setting is not None and setting.is_default for setting in found),
    )


def _differ(found: Sequence[Setting | None], key: str = "") -> bool:
    """Whether two runs are known to differ: what a run's files do not tell is no difference."""
    values = [setting.value for setting in found if setting is not None]
    return any(not same_value(values[0], value, key) for value in values[1:])


def same_value(first: object, second: object, key: str = "") -> bool:
    """Whether two values of a setting are one, however they are written."""
    if key == "learning_rate_schedule":
        first, second = (COURSES.get(word, word) for word in (str(first).lower(), str(second).lower()))
    if _is_number(first) and _is_number(second):
        return abs(first - second) <= RELATIVE * max(abs(first), abs(second))
    return first == second or str(first) == str(second)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _native_keys(runs: Sequence[Run]) -> list[str]:
    """Keys of the users' own that stand for no canonical setting, in runs of one framework."""
    if len({run.framework for run in runs}) > 1:
        return []
    known = {setting.native_key for run in runs for setting in run.config.settings.values()}
    return sorted({key for run in runs for key in run.config.native} - known)


def _is_path(setting: Setting | None) -> bool:
    if setting is None:
        return False
    name = setting.key.rpartition(".")[2].lower()
    if any(word in name for word in ("path", "dir", "folder", "name", "id", "seed", "time", "date", "host", "log")):
        return True
    return isinstance(setting.value, str) and len(PurePath(setting.value).parts) > 1
