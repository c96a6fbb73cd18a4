"""Causes that the evidence does not tell apart are tested first."""

from __future__ import annotations

from rlclinic.model.prescription import PrescriptionKind
from tests.prescriptions.made import PPO, advised, made_run

RUN = made_run({**PPO, "learning_rate": 0.05, "n_epochs": 40})
# Five times what works: more than usual, but not beyond what working configs have.
FASTER = made_run({**PPO, "learning_rate": 0.005, "n_epochs": 40})


def test_causes_of_one_class_that_are_close_are_told_apart_first() -> None:
    made = advised(FASTER, {"learning-rate-too-high": 0.4, "too-many-epochs": 0.3}, "kl-too-large")
    assert made[0].kind is PrescriptionKind.CHECK
    assert made[0].causes == ("learning-rate-too-high", "too-many-epochs")
    assert "10,000 steps" in made[0].instruction
    assert "0.005 to 0.0017" in made[0].instruction
    assert "n_epochs from 40 to 20" in made[0].instruction
    assert made[1].instruction.startswith("If the test confirms it: lower")
    assert len(made) == 2


def test_a_weak_cause_is_tested_before_it_is_acted_on() -> None:
    made = advised(FASTER, {"unknown": 0.3, "learning-rate-too-high": 0.2}, "kl-too-large")
    assert [item.kind for item in made] == [PrescriptionKind.CHECK, PrescriptionKind.CONFIG]


def test_no_known_cause_means_a_test_of_trainer_and_environment() -> None:
    (made,) = advised(RUN, {"unknown": 0.5, "nothing-wrong": 0.3})
    assert made.kind is PrescriptionKind.CHECK
    assert "rlclinic probe sb3:PPO" in made.instruction
    assert "rlclinic examine CartPole-v1" in made.instruction
