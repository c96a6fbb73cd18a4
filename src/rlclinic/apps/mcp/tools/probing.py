"""Find the broken component of a trainer with tasks whose right answer is known, in the background."""

from __future__ import annotations

import re
from typing import Any

from rlclinic.apps.mcp.jobs import Job, all_jobs, find_job, start_job
from rlclinic.apps.mcp.reply import UNTRUSTED, Number, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError

_NAME = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<rest>[A-Za-z_][\w.]*)")
_PROBE = re.compile(r"[A-Za-z0-9-]{1,40}")
FINISHED = "it was asked to stop, and had all its answers before it did"


class ProbedCase(Part):
    code: str
    case: str
    verdict: str
    reason: str
    answers: list[dict[str, Any]]


class Probing(Reply):
    trainer: str
    job_id: str
    """Give it back to poll."""
    status: str
    """running, finished or ended (failed)."""
    verdict: str | None
    """pass, fail or not-judged."""
    failed: list[ProbedCase]
    passed: int
    skipped: int
    components: list[dict[str, Any]]
    """What the failures point to, the likeliest first."""
    separating_probe: str | None
    settling_method: str | None
    """What the trainer would have to offer for a static contract to tell."""
    not_looked_at: list[str]
    """Components, each with the probe that looks at it and was not run or could not judge."""
    seconds: Number | None
    message: str
    untrusted: str = UNTRUSTED


def probe_trainer(
    workspace: Workspace,
    trainer: str = "",
    only: list[str] | None = None,
    preflight: bool = True,  # noqa: FBT001, FBT002
    gamma: float = 0.7,
    job_id: str | None = None,
) -> Probing:
    """Run a trainer on tiny tasks with known answers to find the component that is broken. `trainer` is one of
    Stable-Baselines3 (`sb3:PPO`) or TorchRL (`torchrl:SAC`), or one that the server was started with (`--trainer`).
    Returns a job_id at once; call again with that job_id to poll. `only` names probes (P5, S0); `preflight` is the
    quick set."""
    if job_id:
        job = find_job(workspace, job_id)
        if job is None or job.kind != "probe":
            known = ", ".join(item.id for item in all_jobs(workspace)[:5] if item.kind == "probe") or "none"
            raise UsageError(f"no probing {job_id!r}; there are {known}", hint="start one by naming a trainer")
        return _standing(job)
    _check(workspace, trainer)
    names = list(only or ())
    bad = [name for name in names if not _PROBE.fullmatch(name)]
    if bad:
        raise UsageError(f"no probe is called {bad[0]!r}", hint="for example P5 or truncation-twin")
    if not 0.0 < gamma < 1.0:
        raise UsageError(f"gamma is {gamma:g}", hint="between 0 and 1; the default is 0.7")
    arguments = ["probe", trainer, "--gamma", str(gamma), "--json", "--processes", "1"]
    arguments += ["--preflight"] if preflight and not names else []
    arguments += [flag for name in names for flag in ("--only", name)]
    job, _ = start_job(workspace, "probe", trainer, arguments)
    return _standing(job)


def _check(workspace: Workspace, trainer: str) -> None:
    """A library's trainer, or one that whoever started the server named: nothing else is imported for a caller."""
    from rlclinic.probes.load import ADAPTERS, HINT

    found = _NAME.fullmatch(trainer)
    if found is None:
        raise UsageError(f"{trainer!r} is no trainer", hint=HINT)
    if found["module"] not in ADAPTERS and trainer not in workspace.trainers:
        raise UsageError(
            f"{trainer} is code of the project, which is not imported for a caller",
            hint=f"whoever runs the server can allow it: rlclinic mcp --trainer {trainer}",
        )


def _standing(job: Job) -> Probing:
    answer = job.answer()
    if job.alive and answer is None:
        return _empty(job, "running", "call again with this job_id").said(f"{job.id!r} probes {job.what!r}; poll it.")
    if answer is None or "probes" not in answer:
        error = (answer or {}).get("error")
        told = f"{error['message']}; {error['hint']}" if isinstance(error, dict) else job.last_words
        return _empty(job, "ended", told).said(f"The probing ended without an answer: {told}")
    failed = [item for item in answer["probes"] if item["verdict"] == "fail"]
    reply = Probing(
        trainer=job.what,
        job_id=job.id,
        status="finished",
        verdict=answer["verdict"],
        failed=[
            ProbedCase(
                **{key: str(item[key]) for key in ("code", "case", "verdict", "reason")},
                answers=plain_value([entry for entry in item["answers"] if not entry["right"]]),
            )
            for item in failed
        ],
        passed=sum(item["verdict"] == "pass" for item in answer["probes"]),
        skipped=sum(item["verdict"] not in ("pass", "fail") for item in answer["probes"]),
        components=plain_value(answer["components"][:5]),
        separating_probe=answer["separating_probe"],
        settling_method=answer["settling_method"],
        not_looked_at=[f"{word} ({item['code']})" for item in answer["not_looked_at"] for word in item["components"]],
        seconds=answer["seconds"],
        message="; ".join([*answer["problems"], *([FINISHED] if job.was_stopped else [])]),
    )
    why = f" {reply.message}." if reply.message and reply.verdict == "not-judged" else ""
    return reply.said(f"{job.what!r}: {reply.verdict}; {reply.passed} passed, {len(failed)} failed.{why}")


def _empty(job: Job, status: str, message: str) -> Probing:
    return Probing(
        trainer=job.what, job_id=job.id, status=status, verdict=None, failed=[], passed=0, skipped=0, components=[],
        separating_probe=None, settling_method=None, not_looked_at=[], seconds=None, message=message,
    )  # fmt: skip
