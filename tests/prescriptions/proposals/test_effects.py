"""The user's own trials turn guesses into measurements."""

from __future__ import annotations

from pathlib import Path

from rlclinic.engine import diagnose
from rlclinic.model.prescription import Basis
from rlclinic.prescriptions.proposals.effects import known_effects, packaged_effects
from rlclinic.store.ledger import Ledger, default_path


def finished(environment: str, effect: float) -> None:
    """A trial of a lower learning rate that found something."""
    change = {"key": "learning_rate", "from": 0.1, "to": 0.001}
    arm = {"verdict": "proved", "causes": ["learning-rate-too-high"], "changes": [change]}
    found = {"id": environment, "environment": environment, "algorithm": "PPO", "seeds": 5}
    ledger = Ledger()
    ledger.start(environment, environment=environment, algorithm="PPO", plan={})
    ledger.finish(environment, {**found, "arms": [{**arm, "effects": {"missing-return": effect}}]})


def test_without_a_ledger_the_packaged_effects_are_all() -> None:
    assert known_effects() == packaged_effects()


def test_the_packaged_effects_are_measured_on_runs_that_a_diagnosis_treated(runs: Path) -> None:
    impact = diagnose(runs / "faults" / "high_lr_ppo_cartpole").prescriptions[0].expected_impact
    assert impact is not None
    assert (impact.metric, impact.basis) == ("missing-return", Basis.MEASURED)
    assert 0.0 < impact.low < impact.high <= 1.0
    assert "environments" in impact.source


def test_a_trial_in_the_ledger_changes_the_figure_of_the_next_report(runs: Path) -> None:
    path = runs / "faults" / "high_lr_ppo_cartpole"
    before = diagnose(path).prescriptions[0].expected_impact
    finished("CartPole-v1", 0.2)
    after = diagnose(path).prescriptions[0].expected_impact
    assert before is not None
    assert after is not None
    assert after.high < before.high
    assert after.source != before.source


def test_a_broken_ledger_costs_its_rows_and_nothing_else() -> None:
    path = default_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database, whatever its name says" * 20)
    assert known_effects() == packaged_effects()
