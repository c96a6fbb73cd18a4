"""How a run did, in the numbers by which runs are compared."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.goal import goal_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.comparison import RunOutcome
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.run import Run
from rlclinic.signals.area import area
from rlclinic.signals.crossing import crossing
from rlclinic.signals.level import level

# Share of the run, at its end, that says where it ended.
END = (0.9, 1.0)


def run_outcome(diagnosis: Diagnosis, label: str, *, until: float | None, reference: bool = False) -> RunOutcome:
    """The outcome of a run; `until` is the last step that counts for the area."""
    run = diagnosis.run
    facts, returns = RunFacts(run), run.returns
    lead = diagnosis.causes[0] if diagnosis.causes else None
    common = {
        "run": run,
        "label": label,
        "verdict": diagnosis.verdict,
        "cause": lead.id if lead is not None else "",
        "cause_probability": lead.probability if lead is not None else math.nan,
        "seconds": wall_seconds(run),
        "fps": speed(run),
        "reference": reference,
    }
    curve = facts.curve
    if returns is None or curve is None:
        return RunOutcome(**common)  # type: ignore[arg-type]
    end, goal = level(returns, END, centre="mean"), goal_of(facts)
    return RunOutcome(
        **common,  # type: ignore[arg-type]
        final=_known(end.value),
        final_low=_known(end.low),
        final_high=_known(end.high),
        best=curve.best,
        best_step=curve.best_step,
        area=_known(area(returns, until).mean),
        threshold=None if goal is None else goal.level,
        steps_to_threshold=None if goal is None else crossing(returns, goal.level).reached_step,
    )


def wall_seconds(run: Run) -> float | None:
    """Seconds the run took, by the first of its clocks that tells."""
    elapsed = run.series.get("time/elapsed")
    if elapsed is not None and elapsed.highest:
        return elapsed.highest
    returns = run.returns
    if returns is not None and returns.wall_times is not None:
        times = returns.wall_times[np.isfinite(returns.wall_times)]
        if times.size > 1 and times[-1] > times[0]:
            return float(times[-1] - times[0])
    if run.started_at is not None and run.ended_at is not None and run.ended_at > run.started_at:
        return run.ended_at - run.started_at
    return None


def speed(run: Run) -> float | None:
    """Env steps per second: the middle of those logged, else steps over wall time."""
    logged = run.series.get("fps")
    if logged is not None:
        values = logged.values[np.isfinite(logged.values)]
        if values.size:
            return float(np.median(values))
    seconds = wall_seconds(run)
    return run.env_steps / seconds if run.env_steps and seconds else None


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
