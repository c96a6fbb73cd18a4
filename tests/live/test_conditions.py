"""What of a diagnosis is worth an alert."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rlclinic.engine import diagnose
from rlclinic.live.alerts import on_the_fly
from rlclinic.live.conditions import NINE, RULES, THRESHOLDS, conditions_of, lacking
from rlclinic.live.record import About, LiveRecord
from rlclinic.model.diagnosis import Cause, Diagnosis, Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.prescription import Change, Prescription, PrescriptionKind, Priority, Safety
from rlclinic.model.run import Run, RunStatus, Status
from rlclinic.rules.registry import RULES as ALL

BY_NAME = {rule.name: rule for rule in ALL}


def seen(name: str, severity: Severity, verdict: Verdict = Verdict.LEARNING) -> Diagnosis:
    rule = BY_NAME[name]
    finding = Finding(rule.code, rule.title, rule.family, severity, 0.9, "it holds", name=rule.name)
    return Diagnosis(Run("r", ""), verdict, "", (finding,))


@pytest.mark.parametrize("alarm", NINE, ids=lambda alarm: alarm.key)
def test_each_of_the_nine_can_be_raised_by_its_rule_at_its_level(alarm: object) -> None:
    for rule in alarm.rules:
        found = conditions_of(seen(rule, Severity.WARNING))
        assert [(item.key, item.level) for item in found] == [(alarm.key, alarm.level)]


@pytest.mark.parametrize(
    ("metric", "value", "key"),
    [
        ("value_loss", float("nan"), "not-finite"),
        ("value_loss", float("inf"), "not-finite"),
        ("grad_norm", 1.1e4, "gradient-explosion"),
        ("grad_norm/actor", 1.1e4, "gradient-explosion"),
        ("entropy", 0.009, "entropy-collapse"),
        ("action_std/min", 0.009, "action-dimension-collapsed"),
        ("q/mean", -1001.0, "q-divergence"),
        ("q/spread", 101.0, "twin-q-divergence"),
        ("explained_variance", -0.51, "value-anti-correlated"),
        ("clip_fraction", 0.51, "excessive-clipping"),
        ("advantage/abs_max", 101.0, "advantage-explosion"),
    ],
)
def test_each_literal_threshold_is_crossed_on_one_side_only(metric: str, value: float, key: str) -> None:
    record = LiveRecord(About(algorithm="SAC" if metric.startswith("q/") else "PPO"))
    record.log({metric: 0.1, "return/train": 1.0}, 1)
    quiet = conditions_of(Diagnosis(record.run(), Verdict.LEARNING, ""), [THRESHOLDS])
    record.log({metric: value}, 2)
    told = conditions_of(Diagnosis(record.run(), Verdict.LEARNING, ""), [THRESHOLDS])
    assert quiet == []
    assert [item.key for item in told] == [key]


def test_a_failure_that_its_own_alarm_tells_is_not_told_again_as_a_cause() -> None:
    lead = Cause("numerical-failure", "optimisation", "root", "NaN or Inf appeared", 0.7)
    found = conditions_of(replace(seen("not-a-number", Severity.ERROR), causes=(lead,)))
    assert [item.key for item in found] == ["not-finite"]
    alone = conditions_of(Diagnosis(Run("r", ""), Verdict.LEARNING, "", causes=(lead,)))
    assert [item.key for item in alone] == ["cause:numerical-failure"]


def test_a_sure_cause_is_an_alert_unless_it_is_what_is_left_over() -> None:
    for cause, keys in (("learning-rate-too-high", ["cause:learning-rate-too-high"]), ("implementation-bug", [])):
        lead = Cause(cause, "policy-too-fast", "root", "", 0.9)
        found = conditions_of(Diagnosis(Run("r", ""), Verdict.PLATEAUED, "", causes=(lead,)))
        assert [item.key for item in found] == keys


@pytest.mark.parametrize(
    ("verdict", "state", "budget", "must_hold"),
    [
        (Verdict.PLATEAUED, Status.RUNNING, None, True),
        (Verdict.NOT_LEARNING, Status.RUNNING, 3, True),
        (Verdict.NOT_LEARNING, Status.RUNNING, 2, False),
        (Verdict.NOT_LEARNING, Status.FINISHED, 3, False),
        (Verdict.UNSTABLE, Status.RUNNING, 3, False),
        (Verdict.LEARNING, Status.RUNNING, 3, False),
    ],
)
def test_a_cause_of_a_standstill_must_hold_while_the_return_may_yet_rise(
    verdict: Verdict, state: Status, budget: float | None, *, must_hold: bool
) -> None:
    lead = Cause("target-network-too-slow", "value-too-slow", "root", "", 0.9)
    run = Run("r", "", status=RunStatus(state), budget=budget, steps=2)
    (told,) = conditions_of(Diagnosis(run, verdict, "", causes=(lead,)))
    assert told.must_hold is must_hold


def test_an_error_about_a_setting_is_news_only_where_the_run_does_badly() -> None:
    name = "batch-does-not-divide-rollout"
    assert conditions_of(seen(name, Severity.ERROR)) == []
    assert [item.key for item in conditions_of(seen(name, Severity.ERROR, Verdict.NOT_LEARNING))] == [name]


def test_a_warning_of_the_update_must_hold_and_one_of_the_return_is_no_alert() -> None:
    early = conditions_of(seen("kl-too-large", Severity.WARNING))
    assert [(item.key, item.must_hold) for item in early] == [("kl-too-large", True)]
    assert conditions_of(seen("never-improved", Severity.WARNING)) == []
    assert conditions_of(seen("kl-too-large", Severity.INFO)) == []


@pytest.mark.parametrize(
    ("cause", "share", "told"),
    [
        ("learning-rate-too-high", 0.6, [False]),
        ("learning-rate-too-high", 0.4, [True]),
        ("implementation-bug", 0.9, [True]),
        ("nothing-wrong", 0.4, [True]),
        ("nothing-wrong", 0.6, []),
        ("already-solved", 0.6, []),
    ],
)
def test_an_early_sign_is_told_at_once_with_its_cause_and_not_at_all_while_nothing_is_wrong(
    cause: str, share: float, told: list[bool]
) -> None:
    diagnosis = seen("kl-too-large", Severity.WARNING, Verdict.INSUFFICIENT_DATA)
    found = conditions_of(replace(diagnosis, causes=(Cause(cause, "", "root", "", share),)))
    assert [item.must_hold for item in found] == told


def test_what_is_wrong_for_certain_is_told_while_a_run_does_well() -> None:
    lead = Cause("nothing-wrong", "nothing-wrong", "root", "", 0.9)
    for name, severity in (("clip-fraction-high", Severity.WARNING), ("kl-too-large", Severity.ERROR)):
        assert len(conditions_of(replace(seen(name, severity), causes=(lead,)))) == 1


def test_what_cannot_be_alerted_to_is_said_with_what_it_needs(runs: Path) -> None:
    lines = lacking(diagnose(runs / "sb3" / "ppo_cartpole"))
    assert any(line.startswith("Advantage explosion: needs") for line in lines)
    assert not any(line.startswith("Excessive clipping") for line in lines)


def prescription(key: str, value: object) -> Prescription:
    return Prescription(
        Priority.HIGH, PrescriptionKind.CONFIG, "Change it.", "because", None, "none", Safety.SAFE, ("x",),
        (Change(key, key, 1, value),),
    )  # fmt: skip


def test_a_change_on_the_fly_is_a_line_where_the_library_allows_it() -> None:
    ppo, sac = Run("a", "", framework="sb3", algorithm="PPO"), Run("b", "", framework="sb3", algorithm="SAC")
    assert on_the_fly(ppo, prescription("learning_rate", 1e-4)) == "model.lr_schedule = lambda _: 0.0001"
    assert on_the_fly(ppo, prescription("clip_range", 0.1)) == "model.clip_range = lambda _: 0.1"
    assert on_the_fly(sac, prescription("ent_coef", 0.1)) == ""
    assert on_the_fly(ppo, prescription("n_steps", 512)) == ""
    assert RULES == "rules"
