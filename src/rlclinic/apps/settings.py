"""The user's settings: `[tool.rlclinic]` in the nearest pyproject.toml, or rlclinic.toml.

    [tool.rlclinic]
    fail-on = "warning"
    ignore = ["SUC05", "config"]

    [tool.rlclinic.thresholds]
    entropy-fell-early.NEARLY_NONE = 0.05

A threshold is a constant of the rule's file; `rlclinic explain RULE` lists them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlclinic.model.errors import UsageError
from rlclinic.readers.no_links import read_file

FAIL_ON = ("info", "warning", "error", "never")
KEYS = frozenset({"fail-on", "select", "ignore", "thresholds"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user wants of a diagnosis."""

    fail_on: str = "error"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    path: Path | None = None
    """Where they stand."""


def load_settings(start: Path) -> Settings:
    """The settings that apply in a folder; the nearest file wins."""
    for folder in (start.absolute(), *start.absolute().parents):
        for name in ("rlclinic.toml", "pyproject.toml"):
            path = folder / name
            table = _table(path, name) if path.is_file() else None
            if table is not None:
                return _settings(table, path)
    return Settings()


def _table(path: Path, name: str) -> dict[str, Any] | None:
    try:
        data = tomllib.loads(read_file(path).decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        if name == "rlclinic.toml":
            raise UsageError(f"not valid TOML: {error}", path=str(path), hint="correct or remove it") from error
        return None
    if name == "rlclinic.toml":
        return data
    found = data.get("tool", {}).get("rlclinic")
    return found if isinstance(found, dict) else None


def _settings(table: dict[str, Any], path: Path) -> Settings:
    unknown = sorted(set(table) - KEYS)
    if unknown:
        known = ", ".join(sorted(KEYS))
        raise UsageError(f"unknown setting {unknown[0]!r}", path=str(path), hint=f"settings are {known}")
    fail_on = table.get("fail-on", "error")
    if fail_on not in FAIL_ON:
        raise UsageError(f"fail-on = {fail_on!r}", path=str(path), hint=f"one of {', '.join(FAIL_ON)}")
    names = {key: table.get(key, []) for key in ("select", "ignore")}
    for key, value in names.items():
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise UsageError(f"{key} is no list of rules", path=str(path), hint=f'for example {key} = ["SUC05"]')
    limits = table.get("thresholds", {})
    if not isinstance(limits, dict) or not all(map(_are_numbers, limits.values())):
        raise UsageError("thresholds are no numbers by rule", path=str(path), hint="see `rlclinic explain RULE`")
    return Settings(fail_on, tuple(names["select"]), tuple(names["ignore"]), limits, path)


def _are_numbers(values: object) -> bool:
    return isinstance(values, dict) and all(isinstance(value, int | float) for value in values.values())
