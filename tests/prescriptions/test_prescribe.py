"""What is prescribed, from the causes to the words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rlclinic.facts.goal_status import GoalStatus
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Basis, Change, PrescriptionKind, Priority
from rlclinic.model.run import Run
from rlclinic.prescriptions.next_steps import variations
from rlclinic.prescriptions.proposals.impact import HIGH, MEDIUM, priority_at_stake
from rlclinic.prescriptions.wording import change_words
from rlclinic.reference.hyperparameters import amount
from tests.prescriptions.made import DQN, PPO, advised, assessment_of, changed_keys, made_run

MISSED = GoalStatus(missed=True, budget_used=True)
SUSPECTS = ("discount-too-low", "learning-rate-too-high", "too-few-updates", "entropy-bonus-too-high", "unknown")
RUN = made_run({**PPO, "learning_rate": 0.05, "n_epochs": 40})


def test_a_cause_that_stands_out_is_treated_with_exact_values_and_the_evidence() -> None:
    made, *_ = advised(RUN, {"learning-rate-too-high": 0.9}, "kl-too-large", verdict=Verdict.COLLAPSED)
    assert changed_keys([made]) == {"learning_rate": (0.05, 0.001)}
    assert made.priority is Priority.CRITICAL
    assert made.kind is PrescriptionKind.CONFIG
    assert "POL04" in made.rationale
    assert "50 times the 0.001 that works for PPO on CartPole-v1" in made.rationale
    assert made.expected_impact is not None
    assert made.expected_impact.basis is Basis.MEASURED
    assert "trials" in made.expected_impact.source
    assert "approx_kl" in made.watch


def test_causes_with_the_same_remedy_are_treated_together() -> None:
    run = made_run({**PPO, "ent_coef": 0.5}, environment="Pendulum-v1")
    made, *_ = advised(run, {"entropy-bonus-too-high": 0.5, "action-std-explosion": 0.3}, "action-std-grows")
    assert made.causes == ("entropy-bonus-too-high", "action-std-explosion")
    alone, *_ = advised(run, {"entropy-bonus-too-high": 0.5, "unknown": 0.3}, "action-std-grows")
    assert made.expected_impact is not None
    assert alone.expected_impact is not None
    assert made.expected_impact.high > alone.expected_impact.high


def test_what_follows_waits_for_the_first_change() -> None:
    run = made_run({**DQN, "learning_rate": 0.05, "buffer_size": 100}, algorithm="DQN")
    made = advised(run, {"learning-rate-too-high": 0.5, "replay-buffer-too-small": 0.4}, "q-values-diverge")
    assert made[1].instruction.startswith("If that does not suffice, and KL, clip fraction or value loss jump")
    assert list(changed_keys(made)) == ["buffer_size", "learning_rate"]


def test_every_candidate_behind_the_first_says_what_would_choose_it() -> None:
    made = advised(RUN, {"learning-rate-too-high": 0.6, "discount-too-low": 0.2}, "kl-too-large")
    assert len(made) == 3
    assert all(item.instruction.startswith("If ") for item in made[1:])


def test_a_run_that_stands_where_it_began_gets_no_more_of_the_same() -> None:
    made = advised(made_run(PPO), {"budget-too-small": 0.4, "unknown": 0.3})
    assert "total_steps" not in changed_keys(made)
    assert made


def test_a_return_that_is_one_number_asks_for_a_look_and_not_for_more_of_it() -> None:
    shares = {"budget-too-small": 0.26, "unknown": 0.14, "uninformative-reward": 0.12}
    made = advised(made_run(PPO), shares, "return-exactly-constant", verdict=Verdict.INSUFFICIENT_DATA)
    assert "examine" in made[0].instruction
    assert not any("budget-too-small" in item.causes for item in made)


def test_a_cause_that_is_certain_is_not_contradicted_by_its_own_advice() -> None:
    signs = ("clip-fraction-zero", "kl-vanishes", "returns-too-large-for-critic")
    made, *_ = advised(made_run(PPO), {"learning-rate-too-low": 0.99}, *signs)
    assert "Do not raise" not in made.instruction
    assert list(changed_keys([made])) == ["learning_rate"]


@pytest.mark.parametrize("change", [Change("gradient_steps", "gradient_steps", -1, 8)])
def test_a_mode_is_no_number(change: Change) -> None:
    assert change_words(change) == "Set gradient_steps from -1 to 8"
    assert amount("gradient_steps", -1) is None
    assert amount("ent_coef", -1) == -1.0


def test_a_change_without_findings_quotes_the_metrics_it_rests_on() -> None:
    run = made_run({**PPO, "gamma": 0.5}, series={"return/train": [20.0] * 20 + [21.0] * 20})
    made, *_ = advised(run, {"discount-too-low": 0.9})
    assert "return/train went from 20 to 21" in made.rationale


def test_only_what_is_implicated_is_touched() -> None:
    made = advised(RUN, {"discount-too-low": 0.8}, "horizon-short-for-task")
    assert set(changed_keys(made)) <= {"gamma"}


def test_a_run_without_a_config_is_judged_by_what_it_logs() -> None:
    run = made_run({}, series={"learning_rate": [0.05] * 40})
    made, *_ = advised(run, {"learning-rate-too-high": 0.9}, "kl-too-large")
    assert changed_keys([made]) == {"learning_rate": (0.05, 0.001)}


def test_a_return_that_nobody_logged_is_recorded_first() -> None:
    made, *_ = advised(RUN, {"return-not-logged": 0.4}, "return-not-there", verdict=Verdict.INSUFFICIENT_DATA)
    assert "Monitor(env)" in made.code
    assert made.priority is Priority.MEDIUM
    assert made.expected_impact is None


def test_gymnasium_solver_evaluates_the_policy_it_trains() -> None:
    native = {"algo_id": "ppo", "n_envs": 8, "n_steps": 32, "batch_size": 256, "policy_lr": 0.001, "eval_async": False}
    run = made_run(native, framework_id="gymnasium-solver")
    made, *_ = advised(run, {"evaluation-stale": 0.6}, "evaluation-of-old-policy", verdict=Verdict.PLATEAUED)
    assert changed_keys([made]) == {"eval_async": (False, True)}
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
    assert changed_keys(advised(tight, {"gradient-explosion": 0.7}, "gradient-norm-explodes")) == {}
    made = advised(wide, {"gradient-explosion": 0.7}, "gradient-norm-explodes")
    assert changed_keys(made) == {"max_grad_norm": (10.0, 0.5)}


def test_a_run_of_an_unknown_algorithm_gets_no_advice_for_language_models() -> None:
    for cause in ("sparse-reward", "uninformative-reward"):
        made, *_ = advised(made_run({}, framework_id="unknown", algorithm="", environment=""), {cause: 0.9})
        assert made.kind is PrescriptionKind.ENVIRONMENT


def test_a_tiny_budget_is_not_merely_doubled() -> None:
    tiny = made_run({**PPO, "total_timesteps": 200}, environment="MyRobot-v0")
    made, *_ = advised(tiny, {"budget-too-small": 0.9}, verdict=Verdict.INSUFFICIENT_DATA)
    assert "from 200 to 20000" in made.instruction


@pytest.mark.parametrize(
    ("config", "longest", "wanted"),
    [({}, 1024.0, 2048), ({}, 100.0, 512), ({"max_completion_length": 1024}, 700.0, 2048)],
)
def test_a_cap_that_cuts_responses_is_raised_beyond_all_that_was_seen(
    config: dict[str, object], longest: float, wanted: int
) -> None:
    lengths = {"response_length/max": [longest] * 40, "response_length": [longest / 2] * 40}
    run = made_run(config, framework_id="trl", algorithm="GRPO", environment="", series=lengths)
    made = advised(run, {"responses-truncated": 0.9}, "responses-cut")
    assert changed_keys(made)["max_response_length"][1] == wanted
    assert f"{wanted // 2}" not in variations(made[0])


@given(
    share=st.floats(0.0, 1.0),
    scale=st.floats(1e-3, 1e3),
    shares=st.dictionaries(st.sampled_from(SUSPECTS), st.floats(0.05, 0.3), min_size=1, max_size=3),
    verdict=st.sampled_from([Verdict.LEARNING, Verdict.PLATEAUED, Verdict.UNSTABLE]),
)
@settings(max_examples=40)
def test_what_leads_is_as_urgent_as_the_share_of_the_way_that_is_missing(
    share: float, scale: float, shares: dict[str, float], verdict: Verdict
) -> None:
    made = advised(_on_its_way(share, scale), shares, verdict=verdict, status=MISSED)
    wanted = priority_at_stake(1.0 - share)
    assume(min(abs(1.0 - share - limit) for limit in (HIGH, MEDIUM)) > 0.02)
    ranks = [item.priority.rank for item in made]
    assert ranks[0] <= wanted.rank if made[0].expected_impact is None else ranks[0] == wanted.rank
    assert all(rank >= ranks[0] for rank in ranks), "nothing behind the first is more urgent"
    more = advised(_on_its_way(share / 2, scale), shares, verdict=verdict, status=MISSED)
    assert more[0].priority.rank <= ranks[0], "the more is missing, the more urgent"


@pytest.mark.parametrize("verdict", [Verdict.CRASHED, Verdict.COLLAPSED, Verdict.NOT_LEARNING])
def test_a_run_that_has_nothing_has_all_at_stake_without_a_goal(verdict: Verdict) -> None:
    first, *_ = advised(made_run(PPO, environment="Own-v0"), {"discount-too-low": 0.2}, verdict=verdict)
    assert first.priority.rank <= Priority.HIGH.rank


def test_too_little_data_tells_of_no_share_and_the_impact_decides() -> None:
    assert assessment_of(RUN, {"unknown": 0.5}, verdict=Verdict.INSUFFICIENT_DATA).at_stake is None


def _on_its_way(share: float, scale: float) -> Run:
    """A run that rose by this share of the way to its goal, in any unit, and stayed there."""
    rising = np.concatenate([np.linspace(0.0, share, 20), np.full(20, share)])
    values = (scale * rising).tolist()
    native = {**PPO, "gamma": 0.5, "learning_rate": 0.05}
    run = made_run(native, environment="Own-v0", series={"return/train": values})
    return replace(run, threshold=scale)


def test_one_look_outside_is_asked_for_once() -> None:
    made = advised(
        made_run({**DQN, "target_update_interval": 10_000}, algorithm="DQN", environment="Own-v0"),
        {"unknown": 0.3, "q-overestimation": 0.25, "implementation-bug": 0.2},
    )
    assert made[0].causes == ("unknown", "implementation-bug")
    assert sum("xamine the environment" in item.instruction for item in made) == 1


def test_where_no_config_was_read_it_is_asked_for_before_the_look() -> None:
    first, *_ = advised(made_run({}), {"unknown": 0.5})
    assert first.instruction.startswith("Add the config to this report first (--config FILE)")
    first, *_ = advised(made_run(PPO), {"unknown": 0.5})
    assert first.instruction.startswith("Examine")


def test_a_pace_far_off_is_set_right_at_once_where_only_its_interval_is_a_setting() -> None:
    native = {"learning_rate": 1e-3, "buffer_size": 10_000, "batch_size": 64, "train_frequency": 400,
              "total_timesteps": 12_000}  # fmt: skip
    run = made_run(native, framework_id="cleanrl", algorithm="DQN", environment="Own-v0")
    made, *_ = advised(run, {"too-few-updates": 0.98})
    before, after = changed_keys([made])["train_freq"]
    assert before == 400
    assert isinstance(after, int)
    assert after <= 4, "half of it at a time would take seven rounds"
