"""A cause of small probability is acted on at once where its evidence singles it out, and only then."""

from __future__ import annotations

import pytest

from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Severity
from rlclinic.model.prescription import PrescriptionKind, Priority
from rlclinic.prescriptions.checks.decisive_evidence import has_specific_finding, is_far_off
from rlclinic.prescriptions.prescribe import prescribe
from tests.prescriptions.made import DQN, PPO, advised, assessment_of, changed_keys, found, made_run, suspected
from tests.prescriptions.made_runs import change

FAST = made_run({**PPO, "learning_rate": 0.1})
WEAK = {"unknown": 0.4, "learning-rate-too-high": 0.1}
GREEDY_LATE = made_run({**DQN, "exploration_final_eps": 1.0}, algorithm="DQN")
SMALL_REWARDS = {"unknown": 0.3, "nothing-wrong": 0.2, "reward-scale-too-small": 0.12}


def test_a_setting_far_off_with_a_symptom_goes_back_at_once() -> None:
    made, *_ = advised(FAST, WEAK, "entropy-fell-early")
    assert changed_keys([made]) == {"learning_rate": (0.1, 0.001)}
    assert made.priority is Priority.HIGH, "all of the return is at stake"


@pytest.mark.parametrize("rules", [(), ("far-from-reference",)])
def test_a_setting_far_off_is_the_first_experiment_where_the_cause_is_open(rules: tuple[str, ...]) -> None:
    made, *_ = advised(FAST, WEAK, *rules)
    assert changed_keys([made]) == {"learning_rate": (0.1, 0.001)}
    assert "nothing else explains it" in made.rationale


@pytest.mark.parametrize(
    ("native", "key", "algorithm"),
    [
        ({**PPO, "learning_rate": 1e-7}, "learning_rate", "PPO"),
        ({**PPO, "gae_lambda": 0.0}, "gae_lambda", "PPO"),
        ({**DQN, "buffer_size": 130}, "buffer_size", "DQN"),
    ],
)
def test_values_that_nobody_trains_with_are_acted_on_when_the_cause_is_unknown(
    native: dict[str, object], key: str, algorithm: str
) -> None:
    run = made_run(native, algorithm=algorithm)
    assert list(changed_keys(advised(run, {"unknown": 0.7})[:1])) == [key]


@pytest.mark.parametrize("verdict", [Verdict.LEARNING, Verdict.SOLVED, Verdict.INTERRUPTED])
def test_a_run_that_does_not_do_badly_keeps_its_odd_values(verdict: Verdict) -> None:
    assert changed_keys(advised(FAST, {"nothing-wrong": 0.5, "unknown": 0.4}, verdict=verdict)) == {}


@pytest.mark.parametrize("verdict", [Verdict.LEARNING, Verdict.SOLVED, Verdict.INSUFFICIENT_DATA])
def test_a_run_that_did_not_fail_has_no_decisive_evidence(verdict: Verdict) -> None:
    assessment = assessment_of(FAST, WEAK, "entropy-fell-early", verdict=verdict)
    assert not is_far_off(assessment, [change(FAST, "learning_rate", 0.001)], found("entropy-fell-early"))


def test_a_setting_far_off_leads_before_a_likelier_cause_of_another_kind() -> None:
    shares = {"sparse-reward": 0.33, "unknown": 0.2, "learning-rate-too-high": 0.06}
    made = advised(FAST, shares, "entropy-fell-early", "reward-rarely-seen")
    assert [item.causes[0] for item in made][:2] == ["learning-rate-too-high", "sparse-reward"]
    assert made[1].instruction.startswith("If that does not suffice, and random play earns no reward")


def test_of_two_settings_far_off_that_of_the_likelier_cause_is_tried_first() -> None:
    run = made_run({**PPO, "learning_rate": 0.1, "vf_coef": 0.0})
    shares = {"unknown": 0.4, "sparse-reward": 0.15, "learning-rate-too-high": 0.1, "value-loss-weight-wrong": 0.09}
    assert advised(run, shares, "entropy-fell-early")[0].causes == ("learning-rate-too-high",)


@pytest.mark.parametrize(("bonus", "expected"), [(0.05, False), (10_000.0, True), (-0.5, False)])
def test_a_bonus_is_judged_by_all_working_configs_where_the_entry_has_none(bonus: float, *, expected: bool) -> None:
    run = made_run({**PPO, "ent_coef": bonus})
    assessment = assessment_of(run, {"entropy-bonus-too-high": 0.2}, "entropy-stays-maximal")
    lower = [change(run, "ent_coef", -1.0 if bonus < 0 else 0.0)]
    assert is_far_off(assessment, lower, found("entropy-stays-maximal")) is expected


def test_a_value_outside_its_range_is_far_off() -> None:
    run = made_run({**PPO, "ent_coef": -0.5})
    assessment = assessment_of(run, {"entropy-bonus-too-low": 0.1}, "entropy-fell-early")
    assert is_far_off(assessment, [change(run, "ent_coef", 0.01)], found("entropy-fell-early"))


def test_updates_are_judged_by_their_ratio_to_env_steps() -> None:
    run = made_run({**DQN, "train_freq": 100, "gradient_steps": 1}, algorithm="DQN")
    (made, *_) = advised(run, {"unknown": 0.3, "too-few-updates": 0.1}, "few-updates-in-budget")
    assert changed_keys([made]) == {"gradient_steps": (1, 50)}


def test_a_sign_that_speaks_for_one_cause_spares_the_test() -> None:
    shares = {"unknown": 0.2, "exploration-never-ends": 0.19}
    made, *_ = advised(GREEDY_LATE, shares, "exploration-never-falls")
    assert changed_keys([made]) == {"exploration_final": (1.0, 0.04)}
    rewards = advised(made_run(PPO), SMALL_REWARDS, "returns-tiny-for-critic", verdict=Verdict.PLATEAUED)
    assert changed_keys(rewards) == {"normalize_reward": (None, True)}
    assert rewards[0].expected_impact is not None
    assert rewards[0].expected_impact.low < 0


def test_a_sign_of_many_causes_does_not() -> None:
    made = advised(made_run(PPO), {"unknown": 0.3, "learning-rate-too-high": 0.2}, "large-swings")
    assert made[0].kind is PrescriptionKind.CHECK
    assert not has_specific_finding("learning-rate-too-high", found("large-swings"))


@pytest.mark.parametrize(
    ("severity", "confidence", "told"),
    [(Severity.WARNING, 0.8, True), (Severity.WARNING, 0.5, False), (Severity.INFO, 0.9, False)],
)
def test_a_telling_sign_is_clear_itself(severity: Severity, confidence: float, *, told: bool) -> None:
    signs = found("exploration-never-falls", severity=severity, confidence=confidence)
    assert has_specific_finding("exploration-never-ends", signs) is told
    assert not has_specific_finding("learning-rate-too-low", signs)


def test_a_small_probability_is_never_critical() -> None:
    sure = found("kl-too-large", severity=Severity.ERROR, confidence=0.95)
    for share, wanted in ((0.14, Priority.HIGH), (0.3, Priority.CRITICAL)):
        causes = suspected({"unknown": 0.27, "learning-rate-too-high": share}, sure)
        made = prescribe(RunFacts(made_run({**PPO, "learning_rate": 0.1})), Verdict.NOT_LEARNING, sure, causes)
        assert made[0].priority is wanted


def test_a_value_that_nobody_works_with_is_an_optional_change_once_the_budget_is_used_up() -> None:
    shares = {"nothing-wrong": 0.6, "budget-too-small": 0.2, "learning-rate-too-high": 0.08}
    causes = suspected(shares)
    made = prescribe(RunFacts(FAST), Verdict.LEARNING, (), causes, status=GoalStatus(budget_used=True))
    assert changed_keys(made) == {"learning_rate": (0.1, 0.001)}
    assert made[0].priority is Priority.LOW
    assert made[0].instruction.startswith("Optional: ")
    for verdict, status in ((Verdict.LEARNING, GoalStatus()), (Verdict.SOLVED, GoalStatus())):
        assert changed_keys(prescribe(RunFacts(FAST), verdict, (), causes, status=status)) == {}


def test_an_unusual_value_that_somebody_works_with_is_left_alone() -> None:
    run = made_run({**PPO, "learning_rate": 5e-3})
    causes = suspected({"nothing-wrong": 0.6, "learning-rate-too-high": 0.1})
    assert (
        changed_keys(prescribe(RunFacts(run), Verdict.LEARNING, (), causes, status=GoalStatus(budget_used=True))) == {}
    )


def test_a_run_that_crept_is_treated_by_a_telling_sign() -> None:
    run = made_run({**PPO, "batch_size": 1024, "n_epochs": 1})
    signs = found("few-updates-in-budget")
    causes = suspected({"budget-too-small": 0.5, "too-few-updates": 0.1}, signs)
    crept, rose = (
        prescribe(RunFacts(run), Verdict.LEARNING, signs, causes, status=status)
        for status in (GoalStatus(budget_used=True, barely_moved=True), GoalStatus(budget_used=True))
    )
    assert changed_keys(crept) == {"batch_size": (1024, 256), "n_epochs": (1, 20)}
    assert changed_keys(rose) == {}
