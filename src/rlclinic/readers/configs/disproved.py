"""Settings that the log says otherwise: those of a script or of a default are not this run's.

What the run's own files record stays: that a recorded setting was not applied is for a rule to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from statistics import median

import numpy as np

from rlclinic.model.config import Config, Setting
from rlclinic.model.series import FloatArray, Series

# Share by which a logged value may differ from a default, which it rounds, and from a value that someone set: its
# schedule may have begun before the first row.
ROUNDED = 1e-3
BEGUN = 0.15
# Rows of the log from which on its steps tell how long a rollout was.
FEW = 5
# Steps by which a mean of rows may miss a whole rollout.
HALF = 0.5
# Settings that are one rollout together.
ROLLOUT = ("n_steps", "n_envs")


def without_disproved(config: Config, series: Mapping[str, Series], note: Callable[[str], None]) -> Config:
    """The config without what the log disproves. Defaults go silently: something set them that is not known."""
    config = _with_kl_in_reward(config, series)
    wrong = dict(_otherwise(config, series))
    for name, told in wrong.items():
        setting = config.settings[name]
        if setting.origin is not None:
            note(f"{setting.origin} says {setting.native_key} = {setting.value}, the run logged {told}: left out")
    # A schedule goes with the value that it is of: both stand in one place.
    places = [(config.settings[name].native_key, config.settings[name].origin) for name in wrong]
    kept = {
        name: setting
        for name, setting in config.settings.items()
        if name not in wrong and (setting.origin is None or (setting.native_key, setting.origin) not in places)
    }
    if len(kept) == len(config.settings):
        return config
    gone = {key for key, origin in places if origin is not None}
    native = {key: setting for key, setting in config.native.items() if key not in gone}
    return replace(config, settings=kept, native=native)


def _with_kl_in_reward(config: Config, series: Mapping[str, Series]) -> Config:
    """A penalty whose weight is logged and that is no loss is in the reward: older releases had no switch for it."""
    switch = config.settings.get("use_kl_in_reward")
    if switch is None or not switch.is_default or config.get("use_kl_loss") is True or "kl_coef" not in series:
        return config
    on = replace(switch, value=True, is_default=False)
    return replace(config, settings={**config.settings, switch.key: on})


def _otherwise(config: Config, series: Mapping[str, Series]) -> Iterator[tuple[str, str]]:
    """The settings that are not what was logged, and what was."""
    for name, setting in config.settings.items():
        if _is_recorded(setting):
            continue
        logged = _finite(series[name].values) if name in series else np.array([])
        value = config.number(name)
        if value is None or not logged.size:
            continue
        low, high = float(logged.min()), float(logged.max())
        room = (ROUNDED if setting.is_default else BEGUN) * max(abs(low), abs(high))
        if not low - room <= value <= high + room:
            yield name, f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
    yield from _rollout(config, series)


def _rollout(config: Config, series: Mapping[str, Series]) -> Iterator[tuple[str, str]]:
    """An on-policy update follows each rollout, so two rows of the log are some whole rollouts apart."""
    known = {name: value for name in ROLLOUT if (value := config.number(name))}
    updates = series.get("clip_fraction")
    if "n_steps" not in known or updates is None or updates.axis != "env_steps" or len(updates) < FEW:
        return
    # numpy's own median would import masked arrays.
    apart = float(median(np.diff(_finite(updates.steps)).tolist() or [0.0]))
    if apart > 0 and (apart + HALF) % math.prod(known.values()) > 2 * HALF:
        for name in known:
            if not _is_recorded(config.settings[name]):
                yield name, f"an update every {apart:,.0f} steps"


def _is_recorded(setting: Setting) -> bool:
    return setting.origin is not None and setting.origin.basis == "recorded"


def _finite(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]
