"""A config file as canonical values: the lab's own keys, a library's, or those of gymnasium-solver."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rlclinic.lab.recipe import FACTS, FIELDS
from rlclinic.lab.values import canonical_key
from rlclinic.model.config import Setting
from rlclinic.model.errors import UsageError
from rlclinic.readers.configs.normalise import canonical_settings
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.yaml.safe_yaml import load_yaml
from rlclinic.readers.no_links import read_file
from rlclinic.reference.algorithms import algorithm_name
from rlclinic.reference.framework import framework
from rlclinic.reference.hyperparameters import hyperparameters

# Whose keys are understood, in this order.
TABLES = ("rlclinic", "gymnasium-solver", "sb3-zoo")
# Keys whose value is one thing, however nested it is.
WHOLE = frozenset({"env_kwargs", "env_wrappers", "net_arch"})


def read_config_file(path: Path, variant: str = "") -> tuple[dict[str, object], tuple[str, ...]]:
    """Canonical values of a file, and what of a gymnasium-solver file means nothing here."""
    data = _load(path)
    foreign = _is_foreign(data)
    if foreign or variant:
        data = _variant(data, variant, path)
    own = {key: value for key, value in data.items() if key in FIELDS and key not in hyperparameters()}
    rest = {
        key: value
        for key, value in data.items()
        if key not in own and key not in FACTS and not key.startswith("rlclinic_")
    }
    settings = {key: Setting(key, value, key) for key, value in _flat(rest).items()}
    tables = [framework(name) for name in TABLES]
    first = canonical_settings(settings, tables)
    algorithm = algorithm_name(str(first["algorithm"].value)) if "algorithm" in first else ""
    if not algorithm or "env_id" not in first:
        raise UsageError("names no algorithm or no environment", path=str(path), hint="add algorithm: and env_id:")
    found = canonical_settings(settings, tables, algorithm)
    unknown = sorted(set(settings) - {setting.native_key for setting in found.values()})
    if unknown and not foreign:
        # Raises for a key that nothing knows; one that merely says the same twice is fine.
        for key in unknown:
            canonical_key(key, algorithm, hyperparameters(), TABLES)
    values: dict[str, object] = {name: setting.value for name, setting in found.items()}
    values |= {**own, "algorithm": algorithm}
    if foreign:
        _solver_intervals(values, data)
    return values, tuple(f"{key} means nothing here" for key in unknown if foreign)


def _load(path: Path) -> dict[str, object]:
    try:
        data = load_yaml(read_file(path).decode("utf-8")).data
    except (OSError, UnicodeDecodeError, FormatError) as error:
        raise UsageError(f"cannot be read: {error}", path=str(path)) from error
    if not isinstance(data, Mapping):
        raise UsageError("holds no mapping of keys to values", path=str(path), hint="write key: value lines")
    return {str(key): value for key, value in data.items()}


def _is_foreign(data: Mapping[str, object]) -> bool:
    """Whether it is written for gymnasium-solver: `algo_id` at the top or in a variant."""
    return "algo_id" in data or any(isinstance(value, Mapping) and "algo_id" in value for value in data.values())


def _variant(data: Mapping[str, object], name: str, path: Path) -> dict[str, object]:
    variants = {key: value for key, value in data.items() if isinstance(value, Mapping) and "algo_id" in value}
    if not variants:
        return dict(data)
    chosen = name or (next(iter(variants)) if len(variants) == 1 else "")
    if chosen not in variants:
        told = ", ".join(variants)
        raise UsageError(
            f"{path.name} has the variants {told}", path=str(path), hint=f"name one: {path}:{next(iter(variants))}"
        )
    base = data.get("_base")
    shared = dict(base) if isinstance(base, Mapping) else {}
    shared |= {key: value for key, value in data.items() if not key.startswith("_") and key not in variants}
    return {str(key): value for key, value in {**shared, **dict(variants[chosen])}.items()}


def _flat(data: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in data.items():
        if isinstance(value, Mapping) and key not in WHOLE:
            found |= _flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _solver_intervals(values: dict[str, object], data: Mapping[str, object]) -> None:
    """gymnasium-solver evaluates every so many rollouts."""
    every, n_envs, steps = data.get("eval_freq_epochs"), values.get("n_envs"), values.get("n_steps")
    if isinstance(every, int) and isinstance(n_envs, int) and isinstance(steps, int):
        values["eval_freq"] = every * n_envs * steps
