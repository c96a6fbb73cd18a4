"""The user's settings: `[tool.rlclinic]` in the nearest pyproject.toml, or rlclinic.toml.

    [tool.rlclinic]
    fail-on = "warning"
    ignore = ["SUC05", "config"]

    [tool.rlclinic.thresholds]
    entropy-fell-early.nearly_none = 0.05

A threshold is a limit of the rule; `rlclinic explain RULE` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rlclinic.model.diagnosis import Verdict
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Priority
from rlclinic.readers.no_links import read_file

SEVERITIES = ("info", "warning", "error")
FAIL_ON = (*SEVERITIES, *map(str, Priority), *map(str, Verdict), "never")
"""What may fail a diagnosis: findings and prescriptions at or above a grade, verdicts, or nothing."""
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


def check_fail_on(text: str, path: str = "") -> tuple[str, ...]:
    """The words of `--fail-on not-learning,critical`; UsageError for one that is none."""
    words = tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in FAIL_ON:
            near = get_close_matches(word, FAIL_ON, n=1)
            hint = f"did you mean {near[0]}?" if near else f"any of {', '.join(FAIL_ON)}, joined by commas"
            raise UsageError(f"fail-on: {word!r} is no severity, priority or verdict", path=path, hint=hint)
    return words


def _table(path: Path, name: str) -> dict[str, Any] | None:
    try:
        text = read_file(path).decode()
        if name != "rlclinic.toml" and "rlclinic" not in text:
            # Most projects have a pyproject.toml without settings of ours; parsing it costs as much as reading a run.
            return None
        import tomllib

        data = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
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
    check_fail_on(str(fail_on), str(path))
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
