"""The user's keys under canonical names, derived values, and the framework's defaults, marked as such."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from rlclinic.model.config import Config, Setting
from rlclinic.model.numbers import bounded, number, number_in
from rlclinic.readers.configs.arguments import arguments, is_expression
from rlclinic.readers.configs.forms import FORMS
from rlclinic.reference.framework import Framework, HyperparameterName
from rlclinic.reference.patterns import PatternTable

# How deep a key may be nested to be known by its last part, and sections where the same words mean other things.
NESTED = 2
ENVIRONMENT_SECTIONS = ("env.", "env_args.", "env_config.", "env_kwargs.", "environment.", "hydra.")
# Added to the position of such a match, so that a full path always wins.
LATER = 10_000

# Where trainers keep their progress, with a few settings beside it.
STATES = frozenset({"trainer_state.json"})

# The key of arguments that a script unpacks from somewhere: which they are, only a run knows.
UNPACKED = "**"

# rl-zoo and old gymnasium-solver write a linear schedule to zero as `lin_0.001`.
_LINEAR = re.compile(r"lin_(?P<start>[-+0-9.eE]+)")


def canonical_settings(
    settings: Mapping[str, Setting], tables: Iterable[Framework], algorithm: str = ""
) -> dict[str, Setting]:
    """What the user set, by canonical name. Earlier tables and earlier entries of a table win."""
    best: dict[str, tuple[tuple[bool, int, int], Setting]] = {}
    for key, setting, rank, position, entry in _meant(settings, tables, algorithm):
        # A key that is written but empty must not hide one that has a value, nor one that says it by the way.
        order = (setting.value is None or setting.value == {}, rank, position)
        said = ((entry.name, order), *((name, (order[0], rank, LATER + position)) for name in entry.also))
        for name, place in said:
            if name and (name not in best or place < best[name][0]):
                best[name] = place, Setting(name, _canonical(setting.value, entry), key, setting.origin)
    return {name: setting for name, (_, setting) in best.items()}


def says_more(
    settings: Mapping[str, Setting], tables: Iterable[Framework], algorithm: str, than: Collection[str]
) -> bool:
    """Whether the user set any canonical hyperparameter but these."""
    meant = _meant(settings, tables, algorithm)
    return any(name and name not in than for *_, entry in meant for name in (entry.name, *entry.also))


def _meant(
    settings: Mapping[str, Setting], tables: Iterable[Framework], algorithm: str
) -> Iterator[tuple[str, Setting, int, int, HyperparameterName]]:
    """The settings that a table knows, each with the number of the table and what it says there."""
    for key, setting in _with_arguments(settings, tables).items():
        for rank, table in enumerate(tables):
            found = _find(key, table.hyperparameters, algorithm)
            if found is not None:
                yield key, setting, rank, *found
                break


def complete(settings: dict[str, Setting], native: Mapping[str, Setting], tables: Framework, algorithm: str) -> Config:
    """Add schedules, derived values and defaults to what the user set."""
    known = dict(settings)
    _expand_schedules(known)
    is_unpacked = any(setting.is_open and key.startswith(UNPACKED) for key, setting in native.items())
    if any(map(_is_configured, settings.values())) and not is_unpacked:
        # Without any config it is not known what the user set, so nothing is known to be a default.
        version = known.get("framework_version")
        defaults = tables.defaults_for(algorithm, str(version.value) if version else "")
        keys = tables.native_keys
        for name, value in defaults.items():
            known.setdefault(name, Setting(name, value, keys.get(name, name), is_default=True))
    known = {name: setting for name, setting in known.items() if not setting.is_open}
    _derive(known, tables)
    return Config(known, native)


def _is_configured(setting: Setting) -> bool:
    """Whether a config says it: the few settings that a trainer keeps with its progress are not all that it had, and
    the data may be named by the library that loads them."""
    if setting.key == "train_data":
        return False
    return setting.origin is None or setting.origin.file.rpartition("/")[2] not in STATES


def meaning(key: str, tables: Iterable[Framework], algorithm: str = "") -> str:
    """The canonical hyperparameter that a key means; empty where it is none."""
    found = (_find(key, table.hyperparameters, algorithm) for table in tables)
    return next((entry.name for item in found if item is not None for entry in item[1:]), "")


def _with_arguments(settings: Mapping[str, Setting], tables: Iterable[Framework]) -> Mapping[str, Setting]:
    """The settings; an expression with parts that the framework names is replaced by its arguments."""
    texts = [key for key, item in settings.items() if is_expression(item.value)]
    if not texts:
        return settings
    own = next(iter(tables)).hyperparameters
    known = dict(settings)
    for key in texts:
        named = any(name.startswith(f"{key}.") for name in own)
        found = arguments(str(settings[key].value)) if named else {}
        if found:
            del known[key]
        for name, value in found.items():
            known[f"{key}.{name}"] = Setting(f"{key}.{name}", bounded(value), f"{key}.{name}", settings[key].origin)
    return known


def _canonical(value: object, entry: HyperparameterName) -> object:
    return FORMS[entry.form](value) if entry.form else value


# Runs of one project set the same keys.
@lru_cache(maxsize=8192)
def _find(
    key: str, table: PatternTable[tuple[HyperparameterName, ...]], algorithm: str
) -> tuple[int, HyperparameterName] | None:
    """A key counts with its full path, or by its last part where a config nests it under a section or two."""
    candidates = [key]
    if 1 <= key.count(".") <= NESTED and not key.startswith(ENVIRONMENT_SECTIONS):
        candidates.append(key.rpartition(".")[2])
    for candidate in candidates:
        found = table.find(candidate)
        if found is None:
            continue
        pattern, entries, _ = found
        for entry in entries:
            if not entry.algorithms or algorithm in entry.algorithms:
                return table.position(pattern) + (0 if candidate == key else LATER), entry
    return None


def start_of_schedule(text: str) -> float | None:
    """What a schedule that is written as text begins with."""
    linear = _LINEAR.fullmatch(text)
    return number_in(linear["start"]) if linear is not None else None


def _expand_schedules(known: dict[str, Setting]) -> None:
    for name in ("learning_rate", "clip_range", "ent_coef"):
        setting = known.get(name)
        if setting is None or not isinstance(setting.value, str):
            continue
        start = start_of_schedule(setting.value)
        if start is None:
            continue
        known[name] = Setting(name, start, setting.native_key, setting.origin)
        if name == "learning_rate":
            shared = (setting.native_key, setting.origin)
            known.setdefault("learning_rate_schedule", Setting("learning_rate_schedule", "linear", *shared))
            known.setdefault("learning_rate_final", Setting("learning_rate_final", 0.0, *shared))


def _derive(known: dict[str, Setting], tables: Framework) -> None:
    for rule in tables.derived:
        if rule.name in known and not known[rule.name].is_default:
            continue
        factors = [number(known[name].value) if name in known else None for name in rule.multiply]
        divisors = [number(known[name].value) if name in known else None for name in rule.divide]
        if any(value is None for value in factors) or any(not value for value in divisors):
            continue
        product = math.prod((factor or 0.0 for factor in factors), start=1.0)
        for divisor in divisors:
            product /= divisor or 1.0
        value = number(product)
        if value is None:
            continue
        parts = [known[name] for name in (*rule.multiply, *rule.divide)]
        known[rule.name] = Setting(
            rule.name,
            int(value) if value.is_integer() else value,
            " / ".join(part.native_key for part in parts),
            is_default=all(part.is_default for part in parts),
        )
