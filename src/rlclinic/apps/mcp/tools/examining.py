"""Examine an environment in the background: its reward, its mechanics, its task."""

from __future__ import annotations

from typing import Any

from rlclinic.apps.mcp.jobs import Job, all_jobs, find_job, start_job
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError
from rlclinic.reference.environment_names import is_plain_id

MOST_SECONDS = 600.0
MOST_POLICIES = 12


class Found(Part):
    code: str
    severity: str
    summary: str


class Examining(Reply):
    environment: str
    job_id: str
    """Give it back to poll."""
    status: str
    """running, finished or ended (failed)."""
    verdict: str | None
    """misconfigured or no-fault-found; with a run the verdict of both."""
    findings: list[Found]
    causes: list[dict[str, Any]]
    prescriptions: list[dict[str, Any]]
    policies: list[dict[str, Any]]
    """Returns of random and simple policies."""
    skipped: list[str]
    seconds: Number | None
    message: str
    untrusted: str = UNTRUSTED


def examine_environment(
    workspace: Workspace,
    environment: str = "",
    run_id: str | None = None,
    budget_seconds: float = 40.0,
    job_id: str | None = None,
) -> Examining:
    """Measure an environment to find out whether reward, environment or task is what is wrong: random and simple
    policies, effects of actions, noise, resets, ends of episodes. `environment` is a registered Gymnasium id; with
    `run_id` the run's own one is meant and both are judged together. Returns a job_id at once; call again with that
    job_id to poll."""
    if job_id:
        job = find_job(workspace, job_id)
        if job is None or job.kind != "examine":
            known = ", ".join(item.id for item in all_jobs(workspace)[:5] if item.kind == "examine") or "none"
            raise UsageError(f"no examination {job_id!r}; there are {known}", hint="start one by naming an environment")
        return _standing(job)
    case = workspace.open(run_id) if run_id else None
    name = environment or (case.run.environment if case is not None else "")
    if not is_plain_id(name):
        raise UsageError(
            f"{name!r} is no registered environment" if name else "no environment is named or known of the run",
            hint="a Gymnasium id such as CartPole-v1; a project's own code is examined by its user: `rlclinic examine`",
        )
    if not 1.0 <= budget_seconds <= MOST_SECONDS:
        raise UsageError(f"budget_seconds is {budget_seconds:g}", hint=f"from 1 to {MOST_SECONDS:g}")
    arguments = ["examine", name, "--json", "--all", "--budget", str(budget_seconds)]
    arguments += ["--run", workspace.locate(run_id)] if run_id else []
    job, _ = start_job(workspace, "examine", name, arguments)
    return _standing(job)


def _standing(job: Job) -> Examining:
    answer = job.answer()
    if job.alive and answer is None:
        return _empty(job, "running", "call again with this job_id").said(f"{job.id!r} examines {job.what!r}; poll it.")
    if answer is None or "verdict" not in answer:
        error = (answer or {}).get("error")
        told = f"{error['message']}; {error['hint']}" if isinstance(error, dict) else job.last_words
        return _empty(job, "ended", told).said(f"The examination ended without an answer: {told}")
    measured = answer.get("environment") or {}
    reply = Examining(
        environment=job.what,
        job_id=job.id,
        status="finished",
        verdict=answer["verdict"],
        findings=[
            Found(**{key: str(item[key]) for key in ("code", "severity", "summary")}) for item in answer["findings"]
        ],
        causes=plain_value([{key: item[key] for key in ("id", "probability")} for item in answer["causes"][:5]]),
        prescriptions=plain_value(
            [{key: item[key] for key in ("priority", "instruction", "safety")} for item in answer["prescriptions"]]
        ),
        policies=plain_value(
            [{key: one[key] for key in ("name", "mean", "low", "high")} for one in measured.get("panel", [])][
                :MOST_POLICIES
            ]
        ),
        skipped=[str(item) for item in measured.get("skipped", [])][:8],
        seconds=measured.get("seconds"),
        message=" ".join([str(answer.get("reason", "")), *([] if answer["prescriptions"] else answer["next_steps"])]),
    )
    grave = sum(item.severity != "info" for item in reply.findings)
    return reply.said(f"{job.what!r}: {reply.verdict}; {grave} findings that matter. {reply.message}")


def _empty(job: Job, status: str, message: str) -> Examining:
    return Examining(
        environment=job.what, job_id=job.id, status=status, verdict=None, findings=[], causes=[], prescriptions=[],
        policies=[], skipped=[], seconds=None, message=message,
    )  # fmt: skip
