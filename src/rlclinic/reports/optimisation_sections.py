"""An optimisation as sections of a page: what was kept and how sure that is, the way to it, every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlclinic.model.optimisation import Attempt, Optimisation, Origin
from rlclinic.model.trial import OutcomeState
from rlclinic.reports.page import Block, Code, Facts, Section, Table, Words
from rlclinic.reports.text import number, sparkline

CURVE_WIDTH = 40


def optimisation_sections(found: Optimisation) -> tuple[Section, ...]:
    """The sections of an optimisation's page."""
    return (
        Section("best", "Best configuration", tuple(_best(found))),
        Section("way", "Best so far", (_way(found),)),
        Section("runs", "Runs", (_runs(found),)),
    )


def summary(found: Optimisation) -> str:
    """What came of it, in one sentence."""
    if not found.changes:
        return "Nothing that was tried beats the starting configuration."
    before, after = _mean(found.start_scores), _mean(found.scores)
    what = "steps to the threshold" if found.threshold is not None else "score"
    sure = "proved on the seeds tried" if found.proved else "not proved: too few seeds, or they disagree"
    return f"{what}: {number(before)} with the starting configuration, {number(after)} with the best ({sure})."


def optimisation_object(found: Optimisation) -> dict[str, Any]:
    """The object that `rlclinic optimize --json` prints."""
    return {
        "schema": "rlclinic.optimize/1",
        "environment": found.environment,
        "algorithm": found.algorithm,
        "budget": found.budget,
        "used": found.used,
        "threshold": found.threshold,
        "best": dict(found.best),
        "changes": dict(found.changes),
        "scores": list(found.scores),
        "start_scores": list(found.start_scores),
        "proved": found.proved,
        "attempts": [_attempt_object(attempt) for attempt in found.attempts],
        "notes": list(found.notes),
    }


def _attempt_object(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "origin": attempt.origin.value,
        "reason": attempt.reason,
        "config": attempt.config,
        "changes": dict(attempt.changes),
        "seed": attempt.outcome.seed,
        "state": attempt.outcome.state.value,
        "score": attempt.score,
        "used": attempt.used,
        "best": attempt.best,
        "final_return": attempt.outcome.final_return,
        "folder": attempt.outcome.folder,
        "error": attempt.outcome.error,
    }


def _best(found: Optimisation) -> list[Block]:
    blocks: list[Block] = [Words(summary(found), leads=True)]
    if found.changes:
        blocks.append(Facts(tuple((key, Code(_value(value))) for key, value in found.changes.items())))
    return blocks


def _way(found: Optimisation) -> Words:
    best = np.array([attempt.best for attempt in found.attempts])
    used = f"{number(found.used)} of {number(found.budget)} env steps, {len(found.attempts)} runs"
    return Words(f"{sparkline(-best, CURVE_WIDTH)}  {number(best[0])} to {number(best[-1])} over {used}")


def _runs(found: Optimisation) -> Table:
    header = ("run", "from", "seed", "score", "best", "changes")
    rows = tuple(_row(attempt) for attempt in found.attempts)
    return Table(header, rows, right=frozenset({0, 2, 3, 4}))


def _row(attempt: Attempt) -> tuple[str, ...]:
    origin = attempt.origin.value
    if attempt.origin is Origin.PRESCRIPTION:
        origin = f"{origin} ({attempt.reason})"
    score = number(attempt.score) if attempt.outcome.state is OutcomeState.DONE else attempt.outcome.state.value
    return (
        str(attempt.number), origin, str(attempt.outcome.seed), score, number(attempt.best), _words(attempt.changes),
    )  # fmt: skip


def _words(changes: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {_value(value)}" for key, value in changes.items())


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _mean(scores: tuple[float, ...]) -> float:
    return sum(scores) / len(scores) if scores else float("nan")
