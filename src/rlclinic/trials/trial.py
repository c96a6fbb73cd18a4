"""Run a trial: train every arm on the same seeds, enter what happens into the ledger, judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rlclinic.model.effect import REGAINED
from rlclinic.model.trial import BASELINE, ArmResult, Outcome, OutcomeState, Trial, TrialVerdict
from rlclinic.store.ledger import Ledger
from rlclinic.store.names import TRIALS
from rlclinic.trials.judge import ALPHA, can_still_be_proved, falls_back, judge, levels
from rlclinic.trials.plan import Arm, Job, TrialPlan, plan_from
from rlclinic.trials.runners import Runner

Listener = Callable[[Outcome, int, int], None]


def run_trial(
    plan: TrialPlan, runner: Runner, *, ledger: Ledger, root: Path, on_outcome: Listener | None = None
) -> Trial:
    """Train what the ledger does not hold yet, then judge. Arms that cannot be proved any more are given up."""
    ledger.start(plan.id, environment=plan.environment, algorithm=plan.algorithm, plan=plan.to_object())
    outcomes = {(outcome.arm, outcome.seed): outcome for outcome in ledger.outcomes(plan.id)}
    for key, outcome in _reused(ledger, plan).items():
        if key not in outcomes:
            ledger.record(plan.id, outcome)
            outcomes[key] = outcome
    jobs = [job for job in plan.jobs() if (job.arm, job.seed) not in outcomes]

    def wanted(job: Job) -> bool:
        open_arms = [arm.name for arm in plan.arms[1:] if _is_open(plan, arm, outcomes)]
        return bool(open_arms) if job.arm == BASELINE else job.arm in open_arms

    for outcome in runner.run(jobs, root / TRIALS / plan.id, wanted):
        ledger.record(plan.id, outcome)
        outcomes[outcome.arm, outcome.seed] = outcome
        if on_outcome is not None:
            on_outcome(outcome, len(outcomes), len(plan.arms) * len(plan.seeds))
    trial = judged(plan, outcomes)
    ledger.finish(plan.id, trial_object(trial))
    return trial


def judged(plan: TrialPlan, outcomes: dict[tuple[str, int], Outcome], *, is_over: bool = True) -> Trial:
    """The trial with a verdict on every arm, from the outcomes so far; `is_over` where no more will come."""

    def judged_at(arm: Arm, alpha: float) -> ArmResult:
        before, after = _of(outcomes, BASELINE), _of(outcomes, arm.name)
        return judge(arm.name, arm.changes, before, after, budget=plan.budget, causes=arm.causes, alpha=alpha)

    alone = [judged_at(arm, ALPHA) for arm in plan.arms[1:]]
    arms = [judged_at(arm, level) for arm, level in zip(plan.arms[1:], levels(alone), strict=True)]
    return Trial(
        id=plan.id,
        run=plan.run,
        environment=plan.environment,
        algorithm=plan.algorithm,
        budget=plan.budget,
        seeds=plan.seeds,
        threshold=plan.threshold,
        arms=tuple(arms),
        outcomes=tuple(outcomes[key] for key in sorted(outcomes)),
        notes=plan.notes + _warnings(arms, outcomes) + _notes(plan, outcomes, is_over=is_over),
    )


def trial_object(trial: Trial) -> dict[str, Any]:
    """What the ledger keeps of a finished trial: the effects, not the curves."""
    return {
        "id": trial.id,
        "environment": trial.environment,
        "algorithm": trial.algorithm,
        "seeds": len(trial.seeds),
        "arms": [_arm_object(arm, trial.threshold) for arm in trial.arms],
    }


def _arm_object(arm: ArmResult, threshold: float | None) -> dict[str, Any]:
    return {
        "verdict": arm.verdict.value,
        "causes": list(arm.causes),
        "changes": [{"key": change.key, "from": change.before, "to": change.after} for change in arm.changes],
        "effects": {effect.metric: effect.relative for effect in arm.effects} | _regained(arm, threshold),
    }


def _regained(arm: ArmResult, threshold: float | None) -> dict[str, float]:
    """The share of the way from the return without the change to the threshold that the change made."""
    final = next((effect for effect in arm.effects if effect.metric == "final-return"), None)
    if final is None or threshold is None or not threshold > final.before:
        return {}
    return {REGAINED: min((final.after - final.before) / (threshold - final.before), 1.0)}


def _is_open(plan: TrialPlan, arm: Arm, outcomes: dict[tuple[str, int], Outcome]) -> bool:
    return can_still_be_proved(_of(outcomes, BASELINE), _of(outcomes, arm.name), len(plan.seeds))


def _of(outcomes: dict[tuple[str, int], Outcome], arm: str) -> list[Outcome]:
    return [outcome for (name, _), outcome in sorted(outcomes.items()) if name == arm]


def _warnings(arms: Sequence[ArmResult], outcomes: dict[tuple[str, int], Outcome]) -> tuple[str, ...]:
    """What a verdict alone would hide: how many arms share it, and a proved arm that does not hold what it reached."""
    found = []
    if len(arms) > 1:
        found.append(f"{len(arms)} arms are judged together: the level of each is corrected for that (Holm)")
    for arm in arms:
        fallen = falls_back(_of(outcomes, arm.name)) if arm.verdict is TrialVerdict.PROVED else None
        if fallen is not None:
            peak, end = fallen
            found.append(
                f"{arm.name} is better over the budget but falls back after its peak: from {peak:.4g} to {end:.4g} at "
                "the end; keep the best checkpoint, or look for what makes it fall"
            )
    return tuple(found)


def _reused(ledger: Ledger, plan: TrialPlan) -> dict[tuple[str, int], Outcome]:
    """Outcomes of earlier trials for the very runs that this one wants: nobody trains the same thing twice.

    Only for what the lab trains: a user's script may have changed since.
    """
    if plan.command:
        return {}
    wanted = {_signature(job): job for job in plan.jobs()}
    found: dict[tuple[str, int], Outcome] = {}
    for entry in ledger.listing():
        other = (
            ledger.plan(entry["id"]) if entry["id"] != plan.id and entry["environment"] == plan.environment else None
        )
        if other is None:
            continue
        try:
            earlier = plan_from(other)
        except (TypeError, KeyError, ValueError):
            continue
        done = {(item.arm, item.seed): item for item in ledger.outcomes(entry["id"])}
        for job in earlier.jobs():
            same, outcome = wanted.get(_signature(job)), done.get((job.arm, job.seed))
            if same is not None and outcome is not None and outcome.state is OutcomeState.DONE:
                found[same.arm, same.seed] = replace(outcome, arm=same.arm)
    return found


def _signature(job: Job) -> str:
    """Everything that decides what a run comes to."""
    return json.dumps([job.config, job.seed, job.budget, job.threshold, job.command], sort_keys=True, default=str)


def _notes(plan: TrialPlan, outcomes: dict[tuple[str, int], Outcome], *, is_over: bool) -> tuple[str, ...]:
    notes = [
        f"{outcome.arm}, seed {outcome.seed}: {outcome.error}"
        for outcome in outcomes.values()
        if outcome.state is OutcomeState.FAILED
    ]
    missing = len(plan.arms) * len(plan.seeds) - len(outcomes) if is_over else 0
    stopped = sum(outcome.state is OutcomeState.STOPPED for outcome in outcomes.values()) + missing
    if stopped:
        notes.append(f"{stopped} runs were not trained to their end because their arm could not be proved any more")
    return tuple(notes)
