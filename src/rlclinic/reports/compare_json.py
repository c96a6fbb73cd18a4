"""A comparison as JSON: the object that `rlclinic compare --json` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rlclinic.model.comparison import Comparison, RunOutcome
from rlclinic.model.summary import run_summary

COMPARE_SCHEMA = "rlclinic.compare/1"


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """The object of the contract. Numbers that are not finite are still floats; `dumps` writes them as strings."""
    return {
        "schema": COMPARE_SCHEMA,
        "environments": list(comparison.environments),
        "summary": comparison.summary,
        "winner": comparison.winner or None,
        "runs": [_outcome(outcome) for outcome in comparison.outcomes],
        "groups": [asdict(group) for group in comparison.groups],
        "differences": [asdict(item) for item in comparison.differences],
        "apart": [asdict(item) for item in comparison.apart],
        "partings": [asdict(item) for item in comparison.partings],
        "confounded": list(comparison.confounded),
        "frameworks": [asdict(item) for item in comparison.frameworks],
        "references": [asdict(item) for item in comparison.references],
        "notes": list(comparison.notes),
    }


def _outcome(outcome: RunOutcome) -> dict[str, Any]:
    return {
        "label": outcome.label,
        "run": run_summary(outcome.run),
        "verdict": outcome.verdict.value,
        "cause": outcome.cause,
        "cause_probability": round(outcome.cause_probability, 4),
        "final": outcome.final,
        "final_interval": None if outcome.final_low is None else [outcome.final_low, outcome.final_high],
        "best": outcome.best,
        "best_step": outcome.best_step,
        "area": outcome.area,
        "threshold": outcome.threshold,
        "steps_to_threshold": outcome.steps_to_threshold,
        "seconds": outcome.seconds,
        "fps": outcome.fps,
        "reference": outcome.reference,
    }
