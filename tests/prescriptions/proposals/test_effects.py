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
    ledger.finish(environment, {**found, "arms": [{**arm, "effects": {"steps-to-threshold": effect}}]})


def test_without_a_ledger_the_packaged_effects_are_all() -> None:
    assert known_effects() == packaged_effects()


def test_trials_on_three_environments_make_the_expected_impact_measured(runs: Path) -> None:
    path = runs / "faults" / "high_lr_ppo_cartpole"
    guess = diagnose(path).prescriptions[0].expected_impact
    assert guess is not None
    assert guess.basis is Basis.GUESS
    for environment, effect in (("CartPole-v1", -0.7), ("Acrobot-v1", -0.6), ("LunarLander-v3", -0.65)):
        finished(environment, effect)
    impact = diagnose(path).prescriptions[0].expected_impact
    assert impact is not None
    assert impact.basis is Basis.MEASURED
    assert -0.8 < impact.low < -0.6 < impact.high < -0.5
    assert "in 3 trials on 3 environments under learning-rate-too-high" in impact.source


def test_a_broken_ledger_costs_its_rows_and_nothing_else() -> None:
    path = default_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database, whatever its name says" * 20)
    assert known_effects() == packaged_effects()
