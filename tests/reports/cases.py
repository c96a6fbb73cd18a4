"""Diagnoses made by hand on recorded runs: one per kind of answer a report must give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rlclinic.facts.goal import goal_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Cause, Diagnosis, Verdict
from rlclinic.model.finding import Evidence, Finding, NotChecked, Severity
from rlclinic.model.prescription import (
    Basis,
    Change,
    Impact,
    Native,
    Prescription,
    PrescriptionKind,
    Priority,
    Safety,
)
from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.readers.open import read
from tests.conftest import RUNS

# 2026-01-15 10:00 UTC. Times of files differ between checkouts, so every case states its own.
STARTED = 1_768_471_200.0


def recorded(name: str, state: Status, reason: str, seconds: float | None = None) -> Run:
    """A recorded run without what depends on the machine it is read on."""
    run = read(RUNS / name)
    ended = None if seconds is None else STARTED + seconds
    return replace(
        run,
        path=f"runs/{name}",
        status=RunStatus(state, reason),
        started_at=None if seconds is None else STARTED,
        ended_at=ended,
    )


def measured(run: Run) -> dict[str, Any]:
    """The curves of a run's returns and its goal, as a diagnosis carries them."""
    facts = RunFacts(run)
    return {"curves": facts.curves, "goal": goal_of(facts)}


def collapsed() -> Diagnosis:
    """A learning rate so high that the policy died; the cause is likely, not certain."""
    run = recorded("sb3/ppo_cartpole_high_lr", Status.FINISHED, "12,288 of 12,288 budgeted steps were taken", 21)
    run = replace(run, budget=12_288.0, threshold=475.0)
    return Diagnosis(
        run=run,
        **measured(run),
        verdict=Verdict.COLLAPSED,
        reason="the return climbed from 22.1 to 89.1 by step 5,120 and ended at 9.38, below where it began",
        findings=(
            Finding(
                "POL01",
                "The policy became deterministic before the return stopped rising",
                "policy",
                Severity.WARNING,
                0.8,
                "entropy fell from 0.651 to 8e-22 (0% of 0.693) while the return went from 22.1 to 9.38",
                (
                    Evidence("entropy", "train/entropy_loss", 1.2e-21, 0.1, (11_008, 12_288), 6, "share of ln 2"),
                    Evidence("return/train", "rollout/ep_rew_mean", -12.7, 3.6, None, 48, "gain from start to end"),
                ),
                8_448,
                "entropy-fell-early",
            ),
            Finding(
                "POL04",
                "One update moves the policy too far",
                "policy",
                Severity.ERROR,
                0.92,
                "KL of one update reached 1.66, 22 times its early level, before the return fell",
                (Evidence("approx_kl", "train/approx_kl", 1.66, 0.3, (512, 8_704), 33, "largest before the fall"),),
                4_864,
                "kl-too-large",
            ),
            Finding(
                "SUC02",
                "The return is far below the threshold",
                "success",
                Severity.INFO,
                0.99,
                "the end is 466 below the threshold of 475",
                (Evidence("return/train", "rollout/ep_rew_mean", 9.38, 475.0, (10_752, 12_288), 6, "mean of the end"),),
                None,
                "below-goal",
            ),
        ),
        not_checked=(
            NotChecked("OPT01", "Gradients explode", ("grad_norm",)),
            NotChecked("OPT02", "Gradients vanish", ("grad_norm",)),
            NotChecked("CFG01", "A value far from working configs", ("config:learning_rate",)),
            NotChecked("EVA01", "Training and evaluation differ", ("return/eval", "return/train|reward/step")),
        ),
        causes=(
            Cause(
                "learning-rate-too-high",
                "policy-too-fast",
                "root",
                "Steps so large that policy or critic is destroyed",
                0.61,
                0.58,
                0.04,
                None,
                ("POL04 kl-too-large", "POL01", "verdict collapsed", "KL rose 3,500 steps before the return fell"),
                ("the return did climb at first",),
            ),
            Cause(
                "too-many-epochs",
                "policy-too-fast",
                "root",
                "One batch reused until the policy has left it",
                0.17,
                0.19,
                0.03,
                None,
                ("POL04 kl-too-large",),
                ("20 updates per rollout are not unusual",),
            ),
            Cause("unknown", "unknown", "none", "unknown", 0.12, 0.12, 0.5),
            Cause("nothing-wrong", "nothing-wrong", "none", "nothing wrong", 0.01, 0.01, 0.2),
        ),
        classes={"policy-too-fast": 0.8, "unknown": 0.12, "early-determinism": 0.07, "nothing-wrong": 0.01},
        decision_path=(
            "Are all numbers finite? One check found nothing.",
            "Does the policy still explore? No: entropy fell from 0.651 to 8e-22 (POL01). Begin here.",
            "Are the gradients sane? Not checked: the metrics it needs are not logged.",
        ),
        prescriptions=(
            Prescription(
                priority=Priority.CRITICAL,
                kind=PrescriptionKind.CONFIG,
                instruction="Lower learning_rate from 0.05 to 0.001",
                rationale="POL04 kl-too-large: KL of one update reached 1.66. learning_rate 0.05 is 50 times 0.001",
                expected_impact=Impact("steps-to-threshold", -0.55, -0.2, Basis.GUESS, "no trial of this change yet"),
                risk="learning becomes slower if the rate was not the cause",
                safety=Safety.SAFE,
                causes=("learning-rate-too-high",),
                changes=(Change("learning_rate", "policy_lr", 0.05, 0.001),),
                native=Native("gymnasium-solver-flags", "--override policy_lr=0.001"),
                watch=("approx_kl", "grad_norm"),
            ),
            Prescription(
                priority=Priority.MEDIUM,
                kind=PrescriptionKind.CODE,
                instruction="If that does not suffice: normalise the observations",
                rationale="the scale of the observations is not logged",
                expected_impact=Impact("final-return", -0.05, 0.12, Basis.MEASURED, "measured on 4 environments"),
                risk="a policy evaluated without its statistics acts at random",
                safety=Safety.UNSAFE,
                causes=("observations-unnormalised", "value-underfit"),
                code="class Normalised:\n    def __init__(self, env):\n        self.env = env",
            ),
        ),
        guidelines=("project/CLAUDE.md", "project/AGENTS.md"),
        next_steps=(
            "Lower learning_rate from 0.05 to 0.001. Change nothing else, and train again with the same seed.",
            "Monitor in the next run: train/approx_kl.",
        ),
        unknowns=("No config was found, so no hyperparameter could be checked.",),
    )


def healthy() -> Diagnosis:
    """A run that learns; nothing is wrong."""
    run = recorded("sb3/ppo_cartpole", Status.FINISHED, "16,384 of 16,384 budgeted steps were taken", 85)
    run = replace(run, threshold=475.0)
    return Diagnosis(
        run=run,
        **measured(run),
        verdict=Verdict.LEARNING,
        reason="the return rose from 22.7 to 149 and still rises; the last three evaluations reach 500",
        causes=(
            Cause("nothing-wrong", "nothing-wrong", "none", "nothing wrong", 0.78, 0.74, 0.3),
            Cause(
                "budget-too-small",
                "budget",
                "root",
                "Still improving, or not yet begun, when the budget ended",
                0.14,
                0.16,
                0.05,
                None,
                ("the return rises at the end",),
            ),
        ),
        classes={"nothing-wrong": 0.78, "budget": 0.15},
        decision_path=("Are all numbers finite? One check found nothing.",),
        next_steps=("Nothing needs to change as far as these logs tell.",),
    )


def crashed() -> Diagnosis:
    """A language-model run that ran out of memory before its first metric."""
    run = recorded("verl/out_of_memory", Status.CRASHED, "train.log:24: ray.exceptions.RayTaskError(OutOfMemoryError)")
    return Diagnosis(
        run=run,
        **measured(run),
        verdict=Verdict.CRASHED,
        reason="the process ran out of memory before the first update",
        causes=(
            Cause(
                "out-of-memory",
                "process",
                "process",
                "Memory ran out",
                0.97,
                0.97,
                0.01,
                None,
                ("the log ends with torch.OutOfMemoryError",),
            ),
        ),
        classes={"process": 0.98},
        not_checked=(NotChecked("LLM01", "Entropy is gone while the score stalls", ("entropy",)),),
        next_steps=("Halve actor_rollout_ref.actor.ppo_mini_batch_size from 8 to 4, then start again.",),
        unknowns=("The environment is not known, so returns could not be held against published ones.",),
    )


def suspected_bug() -> Diagnosis:
    """No id stands out, but a component of the trainer is suspected."""
    run = recorded("trl/grpo_tiny", Status.FINISHED, "40 of 40 budgeted steps were taken", 9_000)
    return Diagnosis(
        run=run,
        **measured(run),
        verdict=Verdict.PLATEAUED,
        reason="the reward rose from 0.11 to 0.44 by step 19 and is 0.49 at the end",
        findings=(
            Finding(
                "POL12",
                "Ratios never leave 1 although each batch is used more than once",
                "policy",
                Severity.ERROR,
                0.7,
                "clip fraction is exactly 0 in all updates since step 6",
                (Evidence("clip_fraction", "clip_ratio/region_mean", 0.0, 0.0, (6, 40), 35, "largest value"),),
                6,
                "ratios-never-move",
            ),
        ),
        causes=(
            Cause(
                "implementation-bug",
                "implementation",
                "root",
                "The update itself is wrong",
                0.41,
                0.4,
                0.1,
                "the importance ratio",
                ("POL12",),
                ("no kl-too-large",),
            ),
            Cause("unknown", "unknown", "none", "unknown", 0.33, 0.3, 0.3),
            Cause("parameters-not-trained", "implementation", "root", "A part gets no gradient.", 0.2, 0.2, 0.2),
        ),
        classes={"implementation": 0.61, "unknown": 0.33},
        prescriptions=(
            Prescription(
                priority=Priority.HIGH,
                kind=PrescriptionKind.CHECK,
                instruction="Run `rlclinic probe your.module:make_trainer`",
                rationale="POL12 ratios-never-move: clip fraction is exactly 0",
                expected_impact=None,
                risk="none: it only looks",
                safety=Safety.ADVICE,
                causes=("implementation-bug",),
            ),
        ),
    )


def nothing_read() -> Diagnosis:
    """A run that ended before its first log."""
    run = recorded("edge/aborted_start", Status.UNKNOWN, "nothing in the files says how the run ended")
    return Diagnosis(
        run=run,
        **measured(run),
        verdict=Verdict.INSUFFICIENT_DATA,
        reason="no metric was logged",
        causes=(Cause("unknown", "unknown", "none", "unknown", 1.0, 1.0, 1.0),),
        next_steps=("Train for at least ten logged points, then diagnose again.",),
    )


CASES: dict[str, Callable[[], Diagnosis]] = {
    "collapsed": collapsed,
    "healthy": healthy,
    "crashed": crashed,
    "suspected_bug": suspected_bug,
    "nothing_read": nothing_read,
}
