"""What is prescribed, in which order, and what is left alone."""

from __future__ import annotations

import pytest

from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Basis, PrescriptionKind, Priority
from tests.prescriptions.made import DQN, PPO, advised, made_run, turned_keys

RUN = made_run({**PPO, "learning_rate": 0.05, "n_epochs": 40})
# Five times what works: more than usual, but not beyond what working configs have.
FASTER = made_run({**PPO, "learning_rate": 0.005, "n_epochs": 40})


def test_a_cause_that_stands_out_is_treated_with_exact_values_and_the_evidence() -> None:
    (made,) = advised(RUN, {"learning-rate-too-high": 0.9}, "kl-too-large", verdict=Verdict.COLLAPSED)
    assert turned_keys([made]) == {"learning_rate": (0.05, 0.001)}
    assert made.priority is Priority.CRITICAL
    assert made.kind is PrescriptionKind.CONFIG
    assert "POL04" in made.rationale
    assert "50 times the 0.001 that works for PPO on CartPole-v1" in made.rationale
    assert made.expected_impact is not None
    assert made.expected_impact.basis is Basis.GUESS
    assert "approx_kl" in made.watch


def test_causes_of_one_class_that_are_close_are_told_apart_first() -> None:
    made = advised(FASTER, {"learning-rate-too-high": 0.4, "too-many-epochs": 0.3}, "kl-too-large")
    assert made[0].kind is PrescriptionKind.CHECK
    assert made[0].causes == ("learning-rate-too-high", "too-many-epochs")
    assert "10,000 steps" in made[0].instruction
    assert "0.005 to 0.0017" in made[0].instruction
    assert "n_epochs from 40 to 20" in made[0].instruction
    assert made[1].instruction.startswith("If the test confirms it: lower")
    assert len(made) == 2


def test_of_close_causes_the_one_whose_setting_is_off_goes_first() -> None:
    ordinary = made_run({**PPO, "learning_rate": 0.001, "n_epochs": 80})
    made = advised(ordinary, {"learning-rate-too-high": 0.4, "too-many-epochs": 0.3}, "kl-too-large")
    assert turned_keys(made) == {"n_epochs": (80, 40)}


def test_a_weak_cause_is_tested_before_it_is_acted_on() -> None:
    made = advised(FASTER, {"unknown": 0.3, "learning-rate-too-high": 0.2}, "kl-too-large")
    assert [item.kind for item in made] == [PrescriptionKind.CHECK, PrescriptionKind.CONFIG]


def test_no_known_cause_means_a_test_of_trainer_and_environment() -> None:
    (made,) = advised(RUN, {"unknown": 0.5, "nothing-wrong": 0.3})
    assert made.kind is PrescriptionKind.CHECK
    assert "rlclinic probe sb3:PPO" in made.instruction
    assert "rlclinic examine CartPole-v1" in made.instruction


@pytest.mark.parametrize(
    ("verdict", "shares"),
    [
        (Verdict.SOLVED, {"already-solved": 0.6, "learning-rate-too-high": 0.3}),
        (Verdict.LEARNING, {"nothing-wrong": 0.7, "learning-rate-too-high": 0.2}),
        (Verdict.PLATEAUED, {"nothing-wrong": 0.5, "learning-rate-too-high": 0.2}),
        (Verdict.NOT_RL, {"learning-rate-too-high": 0.9}),
    ],
)
def test_a_healthy_run_is_left_alone(verdict: Verdict, shares: dict[str, float]) -> None:
    assert advised(RUN, shares, "kl-too-large", verdict=verdict) == ()


def test_a_run_that_still_rises_may_go_on() -> None:
    (made,) = advised(RUN, {"nothing-wrong": 0.5, "budget-too-small": 0.3}, verdict=Verdict.LEARNING)
    assert made.priority is Priority.LOW
    assert made.instruction.startswith("Optional")
    assert made.changes == ()


def test_facts_come_before_everything_else() -> None:
    shares = {"learning-rate-too-high": 0.5, "evaluation-mismatch": 0.3}
    made = advised(FASTER, shares, "kl-too-large", verdict=Verdict.COLLAPSED)
    assert [item.causes[0] for item in made] == ["evaluation-mismatch", "learning-rate-too-high"]


@pytest.mark.parametrize(("rate", "mismatch"), [(0.5, 0.3), (0.3, 0.5)])
def test_a_setting_that_no_working_config_comes_near_is_a_fact_too(rate: float, mismatch: float) -> None:
    shares = {"learning-rate-too-high": rate, "evaluation-mismatch": mismatch}
    made = advised(RUN, shares, "kl-too-large", verdict=Verdict.COLLAPSED)
    assert (made[0].causes[0] == "learning-rate-too-high") == (rate > mismatch)


def test_at_most_three_lead_and_one_mechanism_is_turned_only_once() -> None:
    shares = {
        "learning-rate-too-high": 0.2, "reward-scale-too-large": 0.19, "entropy-bonus-too-high": 0.18,
        "too-many-epochs": 0.05, "rollout-too-short": 0.17,
    }  # fmt: skip
    made = advised(RUN, shares, "kl-too-large")
    assert len(made) == 3
    assert len(turned_keys(made)) == len([change for item in made for change in item.changes])


def test_opposite_causes_never_both_turn_a_setting() -> None:
    made = advised(RUN, {"learning-rate-too-low": 0.3, "learning-rate-too-high": 0.29}, "kl-vanishes")
    assert len([change for item in made for change in item.changes if change.key == "learning_rate"]) <= 1


def test_causes_with_the_same_remedy_are_treated_together() -> None:
    run = made_run({**PPO, "ent_coef": 0.5}, environment="Pendulum-v1")
    (made,) = advised(run, {"entropy-bonus-too-high": 0.5, "action-std-explosion": 0.3}, "action-std-grows")
    assert made.causes == ("entropy-bonus-too-high", "action-std-explosion")
    (alone,) = advised(run, {"entropy-bonus-too-high": 0.5, "unknown": 0.3}, "action-std-grows")
    assert made.expected_impact is not None
    assert alone.expected_impact is not None
    assert made.expected_impact.low < alone.expected_impact.low


def test_what_follows_waits_for_the_first_change() -> None:
    run = made_run({**DQN, "learning_rate": 0.05, "buffer_size": 100}, algorithm="DQN")
    made = advised(run, {"learning-rate-too-high": 0.5, "replay-buffer-too-small": 0.4}, "q-runs-away")
    assert len(made) == 2
    assert made[1].instruction.startswith("If that does not suffice: ")


def test_only_what_is_implicated_is_touched() -> None:
    made = advised(RUN, {"discount-too-low": 0.8}, "horizon-short-for-task")
    assert set(turned_keys(made)) <= {"gamma"}


def test_a_run_without_a_config_is_judged_by_what_it_logs() -> None:
    run = made_run({}, series={"learning_rate": [0.05] * 40})
    (made,) = advised(run, {"learning-rate-too-high": 0.9}, "kl-too-large")
    assert turned_keys([made]) == {"learning_rate": (0.05, 0.001)}


def test_a_return_that_nobody_logged_is_recorded_first() -> None:
    (made,) = advised(RUN, {"return-not-logged": 0.4}, "return-not-there", verdict=Verdict.INSUFFICIENT_DATA)
    assert "Monitor(env)" in made.code
    assert made.priority is Priority.MEDIUM
    assert made.expected_impact is None


def test_gymnasium_solver_evaluates_the_policy_it_trains() -> None:
    native = {"algo_id": "ppo", "n_envs": 8, "n_steps": 32, "batch_size": 256, "policy_lr": 0.001, "eval_async": False}
    run = made_run(native, framework_id="gymnasium-solver")
    (made,) = advised(run, {"evaluation-stale": 0.6}, "evaluation-of-old-policy", verdict=Verdict.PLATEAUED)
    assert turned_keys([made]) == {"eval_async": (False, True)}
    assert made.native is not None
    assert made.native.text == "--override eval_async=true"


@pytest.mark.parametrize(
    ("cause", "key", "value"),
    [
        ("gradient-clipping-too-tight", "max_grad_norm", 5.0),
        ("clip-range-too-tight", "clip_range", 0.4),
        ("clip-range-too-loose", "clip_range", 0.05),
    ],
)
def test_a_setting_is_never_moved_against_its_cause(cause: str, key: str, value: float) -> None:
    made = advised(made_run({**PPO, key: value}), {cause: 0.7})
    assert [item.kind for item in made] == [PrescriptionKind.CHECK]


def test_exploding_gradients_are_never_met_with_a_wider_clip() -> None:
    tight, wide = (made_run({**PPO, "max_grad_norm": value}) for value in (0.1, 10.0))
    assert turned_keys(advised(tight, {"gradient-explosion": 0.7}, "gradient-norm-explodes")) == {}
    made = advised(wide, {"gradient-explosion": 0.7}, "gradient-norm-explodes")
    assert turned_keys(made) == {"max_grad_norm": (10.0, 0.5)}
