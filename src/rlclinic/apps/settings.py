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

FAIL_ON = ("info", "warning", "error", "never")
KEYS = frozenset({"fail-on", "select", "ignore", "thresholds"})


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user wants of a diagnosis."""

    fail_on: str = "error"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


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
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
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
    return Settings(
        fail_on,
        tuple(table.get("select", ())),
        tuple(table.get("ignore", ())),
        {str(rule): dict(values) for rule, values in dict(table.get("thresholds", {})).items()},
    )
