"""Short names of runs that tell them apart."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.run import Run

# Ids longer than this are cut in tables.
LONGEST = 32


def labels_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """The ids; runs of the same id are told apart by a number."""
    short = [_short(run.id) for run in runs]
    labels: list[str] = []
    for index, name in enumerate(short):
        labels.append(name if short.count(name) == 1 else f"{name} ({short[: index + 1].count(name)})")
    return tuple(labels)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2 - 1]}…{name[-LONGEST // 2 :]}"
