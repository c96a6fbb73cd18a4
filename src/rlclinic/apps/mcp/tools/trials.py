"""Prove or refute a change: train with and without it on the same seeds, in the background."""

from __future__ import annotations

import math
import re
from typing import Any

import anyio

from rlclinic.apps.mcp.jobs import Job, all_jobs, find_job, start_job
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.tools.training import START_WAIT, assignments
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError

LOOK = 0.2
MOST_SEEDS = 20
STOPPED = "; it was stopped, and goes on where it was when the same trial is started again"
_TRIAL = re.compile(r"^trial ([0-9a-f]{10}): ", re.MULTILINE)


class TrialStarted(Reply):
    success: bool
    trial_id: str
    """Poll trial_status with it."""
    run_id: str
    message: str
    untrusted: str = UNTRUSTED


class ArmOut(Part):
    name: str
    changes: list[dict[str, Any]]
    verdict: str
    """proved, refuted or inconclusive, by the runs so far."""
    reason: str
    effects: list[dict[str, Any]]


class TrialStatusReply(Reply):
    trial_id: str
    ledger_id: str | None
    status: str
    """starting, running, finished or ended (killed or failed; start the same trial again and it goes on)."""
    runs_done: int
    runs_total: int | None
    environment: str
    algorithm: str
    budget: Number | None
    verdict: str | None
    arms: list[ArmOut]
    runs: list[dict[str, Any]]
    notes: list[str]
    message: str
    untrusted: str = UNTRUSTED


async def start_trial(
    workspace: Workspace,
    run_id: str,
    changes: dict[str, Any] | None = None,
    prescriptions: int = 1,
    seeds: int = 5,
    budget: int | None = None,
) -> TrialStarted:
    """Train a run's configuration again with and without a change, on the same seeds, in the background, to prove or
    refute the change. Without `changes` the leading prescriptions of diagnose are tried, each in an arm of its own.
    Costs (arms + 1) x seeds trainings of `budget` env steps. Poll trial_status."""
    path = await anyio.to_thread.run_sync(workspace.locate, run_id)
    arguments = ["trial", path, "--root", str(workspace.runs), "--workers", "1"]
    if not 1 <= seeds <= MOST_SEEDS:
        raise UsageError(f"seeds = {seeds}", hint=f"between 1 and {MOST_SEEDS}; three or more decide something")
    if budget is not None and budget < 1:
        raise UsageError(f"budget = {budget}", hint="env steps of every run, at least 1")
    arguments += [flag for change in assignments(changes or {}) for flag in ("--change", change)]
    arguments += ["--prescriptions", str(max(1, min(prescriptions, 5))), "--seeds", str(seeds)]
    arguments += ["--budget", str(budget)] if budget is not None else []
    job, child = await anyio.to_thread.run_sync(start_job, workspace, "trial", run_id, arguments)
    with anyio.move_on_after(START_WAIT):
        while not _TRIAL.search(job.words()):
            if child.poll() is not None:
                last = [line for line in job.words().strip().splitlines() if line.strip()]
                raise UsageError(_failure(last), hint="call diagnose for prescriptions, or name changes")
            await anyio.sleep(LOOK)
    known = _TRIAL.search(job.words())
    message = f"trial {known[1]} runs" if known else "still starting"
    reply = TrialStarted(success=True, trial_id=job.id, run_id=run_id, message=message)
    return reply.said(f"{message}; poll trial_status with {job.id!r}.")


def trial_status(workspace: Workspace, trial_id: str = "") -> TrialStatusReply:
    """How a trial stands, and what its runs prove so far: verdict per arm with effects and intervals. Takes the id of
    start_trial or of the ledger; without one, the newest trial below the root."""
    from rlclinic.store.ledger import Ledger

    job = (
        find_job(workspace, trial_id) if trial_id else next((j for j in all_jobs(workspace) if j.kind == "trial"), None)
    )
    ledger, known = Ledger(), None
    if job is not None:
        found = _TRIAL.search(job.words())
        known = found[1] if found else None
    elif re.fullmatch(r"[0-9a-f]{10}", trial_id):
        known = trial_id if ledger.plan(trial_id) is not None else None
    if job is None and known is None:
        ids = ", ".join(item.id for item in all_jobs(workspace)[:5] if item.kind == "trial") or "none"
        raise UsageError(f"no trial {trial_id!r}; there are {ids}", hint="start one with start_trial")
    plan = ledger.plan(known) if known else None
    if plan is None or known is None:
        return _without_plan(job, trial_id)
    return _with_plan(ledger, plan, known, job)


def _with_plan(ledger: Any, values: dict[str, Any], known: str, job: Job | None) -> TrialStatusReply:
    from rlclinic.reports.trial_json import trial_json_object
    from rlclinic.trials.plan import plan_from
    from rlclinic.trials.trial import judged

    plan = plan_from(values)
    outcomes = {(item.arm, item.seed): item for item in ledger.outcomes(known)}
    finished = any(item["id"] == known and item["finished"] for item in ledger.listing())
    status = "finished" if finished else "running" if job is not None and job.alive else "ended"
    data = trial_json_object(judged(plan, outcomes, is_over=finished))
    kept = ("arm", "seed", "state", "final_return", "auc", "steps_to_threshold", "error")
    reply = TrialStatusReply(
        trial_id=job.id if job else known,
        ledger_id=known,
        status=status,
        runs_done=len(outcomes),
        runs_total=len(plan.arms) * len(plan.seeds),
        environment=plan.environment,
        algorithm=plan.algorithm,
        budget=plan.budget,
        verdict=data["verdict"] if finished else None,
        arms=[
            ArmOut(
                name=arm["name"],
                changes=plain_value(arm["changes"]),
                verdict=arm["verdict"],
                reason=arm["reason"],
                effects=[plain_value(item) for item in arm["effects"] if _is_measured(item)],
            )
            for arm in data["arms"]
        ],
        runs=[plain_value({key: item[key] for key in kept}) for item in data["outcomes"]],
        notes=data["notes"],
        message="" if finished else "not finished: verdicts are by the runs so far" + (STOPPED if _was(job) else ""),
    )
    so_far = data["verdict"] if finished else f"{data['verdict']} so far"
    return reply.said(f"Trial {known}: {status}, {len(outcomes)} of {reply.runs_total} runs; {so_far}.")


def _is_measured(effect: dict[str, Any]) -> bool:
    """Whether runs of both sides have ended."""
    return all(isinstance(effect[side], int | float) and math.isfinite(effect[side]) for side in ("before", "after"))


def _without_plan(job: Job | None, trial_id: str) -> TrialStatusReply:
    alive = job is not None and job.alive
    last = [] if job is None else [line for line in job.words().strip().splitlines() if line.strip()]
    reply = TrialStatusReply(
        trial_id=job.id if job else trial_id,
        ledger_id=None,
        status="starting" if alive else "ended",
        runs_done=0,
        runs_total=None,
        environment="",
        algorithm="",
        budget=None,
        verdict=None,
        arms=[],
        runs=[],
        notes=[],
        message="" if alive else "it was stopped" if _was(job) else _failure(last),
    )
    return reply.said(f"Trial {reply.trial_id!r}: {reply.status}. {reply.message}")


def _was(job: Job | None) -> bool:
    return job is not None and job.was_stopped


def _failure(lines: list[str]) -> str:
    told = next((line for line in lines if line.startswith("rlclinic: ")), lines[-1] if lines else "no word")
    return f"the trial did not start: {told.removeprefix('rlclinic: ')}"
