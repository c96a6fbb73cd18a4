"""Causes that the evidence does not tell apart are tested first."""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding
from rlclinic.model.prescription import PrescriptionKind
from rlclinic.prescriptions.prescribe import prescribe
from rlclinic.rules.config import far_from_reference
from tests.prescriptions.made import PPO, advised, made_run, suspected

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
    assert [item.changes for item in made[2:]] == [()], "what nothing points to is an experiment"


def test_a_weak_cause_is_tested_before_it_is_acted_on() -> None:
    made = advised(FASTER, {"unknown": 0.3, "learning-rate-too-high": 0.2}, "kl-too-large")
    assert [item.kind for item in made] == [PrescriptionKind.CHECK, PrescriptionKind.CONFIG]


def test_no_known_cause_means_a_look_at_the_environment_before_a_stock_trainer() -> None:
    made, *_ = advised(made_run(PPO), {"unknown": 0.5, "nothing-wrong": 0.3})
    assert made.kind is PrescriptionKind.CHECK
    assert made.instruction.startswith("Examine the environment")
    assert "Stock PPO of a released library is rarely the fault" in made.instruction
    assert made.instruction.index("observations vary") < made.instruction.index("rlclinic probe sb3:PPO")


def test_a_suspected_bug_of_a_stock_trainer_is_looked_for_in_the_environment_first() -> None:
    made, *_ = advised(made_run(PPO), {"implementation-bug": 0.6, "unknown": 0.3}, "never-improved")
    assert made.causes == ("implementation-bug",)
    assert made.instruction.startswith("Examine the environment and its wrappers")


def test_what_the_report_calls_far_off_is_the_experiment_behind_the_look_outside() -> None:
    run = made_run({**PPO, "learning_rate": 0.01}, environment="MyRobot-v0")
    report = far_from_reference.check(RunFacts(run))
    assert report is not None
    told = (report.severity, report.confidence, report.summary, report.evidence)
    finding = Finding("CFG01", "", "config", *told, name="far-from-reference")
    causes = suspected({"unknown": 0.6}, ())
    first, second, *_ = prescribe(RunFacts(run), Verdict.NOT_LEARNING, (finding,), causes)
    assert "examine" in first.instruction
    assert "lower learning_rate from 0.01" in second.instruction
    assert second.changes == ()
    assert "CFG01 far-from-reference" in second.rationale


def test_what_holds_before_anything_is_learned_goes_before_a_setting_far_off() -> None:
    run = made_run({**PPO, "learning_rate": 0.5}, environment="Reacher-v5")
    shares = {"action-space-unnormalised": 0.45, "learning-rate-too-high": 0.15}
    [first, *_] = advised(run, shares, "untrained-policy-earns-far-less", "kl-too-large")
    assert first.causes == ("action-space-unnormalised",)
