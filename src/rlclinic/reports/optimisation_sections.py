"""An optimisation as sections of a page: what was kept and how sure that is, the way to it, every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlclinic.model.optimisation import Attempt, Optimisation, Origin
from rlclinic.model.trial import Outcome, OutcomeState
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
    sure = "proved on the seeds tried" if found.proved else "not proved: too few seeds, or they disagree"
    before, after = (_scores_words(found, scores) for scores in (found.start_scores, found.scores))
    return f"The starting configuration {before}; the best one {after} ({sure})."


def score_words(outcome: Outcome, threshold: float | None) -> str:
    """What a run came to, in words; only steps that were measured are told."""
    if outcome.state is OutcomeState.STOPPED:
        return f"stopped after {number(outcome.steps)} env steps: it could not win any more"
    if outcome.state is not OutcomeState.DONE:
        return outcome.state.value
    if threshold is None:
        return f"mean return {number(outcome.auc)} over the budget"
    if outcome.steps_to_threshold is not None:
        return f"reached {number(threshold)} after {number(outcome.steps_to_threshold)} env steps"
    return f"did not reach {number(threshold)}: ended at {number(outcome.final_return)}"


def _scores_words(found: Optimisation, scores: tuple[float, ...]) -> str:
    if found.threshold is None:
        return f"has a mean return of {number(-_mean(scores))} over the budget"
    reached = _reached(found, scores)
    if not reached:
        return f"never reached {number(found.threshold)} on {len(scores)} seeds"
    return (
        f"reached {number(found.threshold)} on {len(reached)} of {len(scores)} seeds, after {number(_mean(reached))} "
        "env steps on the mean"
    )


def _reached(found: Optimisation, scores: tuple[float, ...]) -> tuple[float, ...]:
    """The scores that are steps to the threshold: beyond the budget of a run they only rank what missed it."""
    most = float(found.best.get("total_steps", found.budget))
    return tuple(score for score in scores if score <= most)


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
    first, last = (_best_words(found, float(best[at])) for at in (0, -1))
    notes = "".join(f" {note}." for note in found.notes)
    return Words(f"{sparkline(-best, CURVE_WIDTH)}  {first}, then {last}, over {used}.{notes}")


def _best_words(found: Optimisation, score: float) -> str:
    if found.threshold is None:
        return f"mean return {number(-score)}"
    return f"{number(score)} steps to the threshold" if _reached(found, (score,)) else "threshold not reached"


def _runs(found: Optimisation) -> Table:
    header = ("run", "from", "seed", "what it came to", "changes")
    rows = tuple(_row(attempt, found.threshold) for attempt in found.attempts)
    return Table(header, rows, right=frozenset({0, 2}))


def _row(attempt: Attempt, threshold: float | None) -> tuple[str, ...]:
    origin = attempt.origin.value
    if attempt.origin is Origin.PRESCRIPTION:
        origin = f"{origin} ({attempt.reason})"
    told = score_words(attempt.outcome, threshold)
    return str(attempt.number), origin, str(attempt.outcome.seed), told, _words(attempt.changes)


def _words(changes: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {_value(value)}" for key, value in changes.items())


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _mean(scores: tuple[float, ...]) -> float:
    return sum(scores) / len(scores) if scores else float("nan")
