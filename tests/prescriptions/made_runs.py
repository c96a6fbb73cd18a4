"""Runs made from a config alone, through the readers' own tables."""

from __future__ import annotations

from collections.abc import Mapping

from rlclinic.model.config import Origin, Setting
from rlclinic.model.prescription import Change
from rlclinic.model.run import Run
from rlclinic.readers.configs.normalise import canonical_settings, complete
from rlclinic.reference.framework import framework


def made_run(
    framework_id: str,
    algorithm: str,
    native: Mapping[str, object],
    *,
    source: str = "files",
    environment: str = "CartPole-v1",
    path: str = "run",
    file: str = "",
    budget: float | None = None,
) -> Run:
    """A run of a framework with these native settings, read as a reader would."""
    tables = framework(framework_id)
    settings = {key: Setting(key, value, key, Origin(file, 1) if file else None) for key, value in native.items()}
    config = complete(canonical_settings(settings, [tables], algorithm), settings, tables, algorithm)
    return Run("run", path, framework_id, source, algorithm, environment=environment, config=config, budget=budget)


def change(run: Run, key: str, after: object) -> Change:
    """One change from what the run has."""
    setting = run.config.settings.get(key)
    return Change(key, setting.native_key if setting else key, run.config.get(key), after)


def changes(run: Run, **wanted: object) -> list[Change]:
    """Several."""
    return [change(run, key, after) for key, after in wanted.items()]
