"""A trial as JSON: the object that `rlclinic trial --json` prints."""

from __future__ import annotations

from typing import Any

from rlclinic.model.trial import ArmResult, Effect, Trial, outcome_object

TRIAL_SCHEMA = "rlclinic.trial/1"


def trial_json_object(trial: Trial) -> dict[str, Any]:
    """The whole trial as plain data."""
    return {
        "schema": TRIAL_SCHEMA,
        "id": trial.id,
        "run": trial.run,
        "environment": trial.environment,
        "algorithm": trial.algorithm,
        "budget": trial.budget,
        "seeds": list(trial.seeds),
        "threshold": trial.threshold,
        "verdict": trial.leading.verdict.value,
        "arms": [_arm(arm) for arm in trial.arms],
        "outcomes": [outcome_object(outcome) for outcome in trial.outcomes],
        "notes": list(trial.notes),
    }


def _arm(arm: ArmResult) -> dict[str, Any]:
    return {
        "name": arm.name,
        "changes": [{"key": change.key, "from": change.before, "to": change.after} for change in arm.changes],
        "verdict": arm.verdict.value,
        "reason": arm.reason,
        "causes": list(arm.causes),
        "effects": [_effect(effect) for effect in arm.effects],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "metric": effect.metric,
        "before": effect.before,
        "after": effect.after,
        "relative": effect.relative,
        "difference": [effect.low, effect.high],
        "probability_of_improvement": effect.improvement,
        "p_better": effect.p_better,
        "p_worse": effect.p_worse,
    }
