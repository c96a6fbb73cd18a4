"""The `run` object of the JSON contract: a run in a few plain values."""

from __future__ import annotations

from typing import Any

from rlclinic.model.run import Run


def run_summary(run: Run) -> dict[str, Any]:
    """The `run` object that every verb prints."""
    returns = run.returns
    return {
        "id": run.id,
        "path": run.path,
        "framework": run.framework,
        "algorithm": run.algorithm,
        "environment": run.environment,
        "status": run.status.state.value,
        "status_reason": run.status.reason,
        "source": run.source,
        "step_axis": run.step_axis,
        "steps": run.steps,
        "env_steps": run.env_steps,
        "budget": run.budget,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "return": {
            "metric": returns.name if returns else None,
            "last": returns.last if returns else None,
            "best": returns.highest if returns else None,
            "threshold": run.threshold,
        },
    }
