"""Runs, findings and causes made by hand, to put one question to the prescriptions at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rlclinic.causes.catalogue import catalogue
from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.config import Origin, Setting
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.prescription import Prescription
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.prescribe import NOT_KNOWN, prescribe
from rlclinic.prescriptions.proposals.effects import Effects
from rlclinic.readers.configs.normalise import canonical_settings, complete
from rlclinic.reference.framework import framework
from rlclinic.rules.registry import RULES

ROW_OF = {row.name: row for row in RULES}
PPO = {
    "n_envs": 8, "n_steps": 128, "batch_size": 256, "n_epochs": 4, "learning_rate": 3e-4, "gamma": 0.99,
    "gae_lambda": 0.95, "clip_range": 0.2, "ent_coef": 0.0, "vf_coef": 0.5, "max_grad_norm": 0.5,
    "total_timesteps": 100_000,
}  # fmt: skip
SAC = {
    "learning_rate": 3e-4,
    "ent_coef": 0.2,
    "tau": 0.005,
    "gamma": 0.99,
    "batch_size": 256,
    "total_timesteps": 50_000,
}
DQN = {
    "learning_rate": 1e-3, "buffer_size": 10_000, "learning_starts": 1_000, "batch_size": 64, "train_freq": 4,
    "gradient_steps": 1, "target_update_interval": 500, "exploration_fraction": 0.2, "exploration_final_eps": 0.05,
    "total_timesteps": 50_000,
}  # fmt: skip


def made_run(
    native: Mapping[str, object],
    *,
    framework_id: str = "sb3",
    algorithm: str = "PPO",
    environment: str = "CartPole-v1",
    series: Mapping[str, Sequence[float]] | None = None,
) -> Run:
    """A run whose config was read as the readers do it."""
    tables = framework(framework_id)
    settings = {key: Setting(key, value, key, Origin("config.yaml", 1)) for key, value in native.items()}
    known = canonical_settings(settings, [tables], algorithm)
    budget = native.get("total_timesteps", 50_000)
    assert isinstance(budget, int)
    curves = {"return/train": [20.0] * 40, **(series or {})}
    return Run(
        id="made",
        path="",
        framework=framework_id,
        algorithm=algorithm,
        environment=environment,
        steps=float(budget),
        budget=float(budget),
        config=complete(known, settings, tables, algorithm),
        series={
            name: Series(name, name, np.linspace(0.0, budget, len(values)), np.asarray(values, dtype=float))
            for name, values in curves.items()
        },
    )


def found(*names: str, severity: Severity = Severity.WARNING, confidence: float = 0.8) -> tuple[Finding, ...]:
    """Findings of these rules."""
    return tuple(
        Finding(ROW_OF[name].code, f"Title of {name}", ROW_OF[name].family, severity, confidence, f"saw {name} at 1.5",
                name=name)
        for name in names
    )  # fmt: skip


def suspected(shares: Mapping[str, float], findings: Sequence[Finding] = ()) -> tuple[Cause, ...]:
    """Causes with these probabilities, supported by all findings."""
    supports = tuple(f"{finding.code} {finding.name}" for finding in findings)
    return tuple(
        Cause(name, catalogue()[name].cause_class, catalogue()[name].kind, catalogue()[name].meaning, share,
              supports=supports)
        for name, share in shares.items()
    )  # fmt: skip


def advised(
    run: Run,
    shares: Mapping[str, float],
    *rules: str,
    verdict: Verdict = Verdict.NOT_LEARNING,
    effects: Effects | None = None,
    status: GoalStatus = NOT_KNOWN,
) -> tuple[Prescription, ...]:
    """What is prescribed for a run with these causes and findings."""
    findings = found(*rules)
    return prescribe(RunFacts(run), verdict, findings, suspected(shares, findings), status=status, effects=effects)


def assessment_of(
    run: Run, shares: Mapping[str, float], *rules: str, verdict: Verdict = Verdict.NOT_LEARNING
) -> Assessment:
    """The same before anything is prescribed."""
    findings = found(*rules)
    by_name, by_id = {item.name: item for item in findings}, {item.id: item for item in suspected(shares, findings)}
    return Assessment(RunFacts(run), verdict, by_name, by_id)


def changed_keys(prescriptions: Sequence[Prescription]) -> dict[str, tuple[object, object]]:
    """Every changed hyperparameter with its value before and after."""
    return {change.key: (change.before, change.after) for item in prescriptions for change in item.changes}
