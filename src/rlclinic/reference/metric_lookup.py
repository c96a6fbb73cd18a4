"""Which metric of a run a caller means, by whatever name: canonical, as logged, of another framework, or outdated."""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rlclinic.reference.table_file import load_table

if TYPE_CHECKING:
    from rlclinic.model.run import Run
    from rlclinic.model.series import Series

# Names of the axes, which are no metrics of a run.
STEP_NAMES = frozenset({"total_timesteps", "train/cnt/total_env_steps", "total_env_steps", "global_step", "step"})
EPOCH_NAMES = frozenset({"epoch", "train/cnt/epoch"})
# Tables that are asked for a name that the run's own framework does not know.
OTHERS = ("gymnasium-solver", "rlclinic", "sb3", "common")
SUGGESTIONS = 4


def lookup(run: Run, name: str) -> Series | None:
    """The series that a name means; None where the run has none."""
    wanted = name.strip()
    if wanted in run.series:
        return run.series[wanted]
    by_logged = {series.logged_as: series for series in run.series.values()}
    if wanted in by_logged:
        return by_logged[wanted]
    folded = {key.casefold(): series for key, series in (*by_logged.items(), *run.series.items())}
    if wanted.casefold() in folded:
        return folded[wanted.casefold()]
    for canonical in _meanings(run.framework, wanted):
        if canonical in run.series:
            return run.series[canonical]
    return None


def last_of(series: Series | None) -> float | None:
    """The last value; None where there is none, and for an evaluation that does not mean what its name says."""
    if series is None or (series.name == "return/eval" and series.caveat):
        return None
    return series.last


def suggestions(run: Run, name: str) -> list[str]:
    """Names of the run that look like the one asked for."""
    names = {series.logged_as for series in run.series.values()} | set(run.series)
    near = difflib.get_close_matches(name, names, n=SUGGESTIONS, cutoff=0.5)
    last = name.rpartition("/")[2].casefold()
    return near or sorted(key for key in names if last and last in key.casefold())[:SUGGESTIONS]


def _meanings(framework_id: str, name: str) -> list[str]:
    """Canonical names that the name stands for in the run's framework, in others, and in outdated documents."""
    from rlclinic.reference.framework import COUNTER, framework

    found: list[str] = []
    for table_id in dict.fromkeys((framework_id, *OTHERS)):
        hit = framework(table_id).metrics.find(name)
        if hit is not None:
            _, entries, captured = hit
            found += [entry.name.replace("*", captured) for entry in entries if entry.name != COUNTER]
    alias = aliases().get(name)
    return [*found, *([alias] if alias else [])]


@cache
def aliases() -> dict[str, str]:
    """The table of outdated names."""
    return load_table(Path(__file__).with_name("metric_aliases.toml"))
