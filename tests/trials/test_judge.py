"""What paired outcomes prove."""

import math

import pytest

from rlclinic.model.prescription import Change
from rlclinic.model.trial import Outcome, OutcomeState, TrialVerdict
from rlclinic.trials.judge import ALPHA, can_still_be_proved, falls_back, judge, levels

CHANGE = (Change("learning_rate", "learning_rate", 0.1, 0.001),)


def outcomes(
    arm: str, aucs: list[float], *, finals: list[float] | None = None, steps: list[float | None] | None = None
):
    return [
        Outcome(
            arm,
            seed,
            OutcomeState.DONE,
            final_return=(finals or aucs)[seed],
            auc=auc,
            steps_to_threshold=steps[seed] if steps else None,
            wall_time=1.0,
        )
        for seed, auc in enumerate(aucs)
    ]


def test_a_change_that_wins_on_every_seed_is_proved() -> None:
    result = judge("change", CHANGE, outcomes("baseline", [10, 12, 11]), outcomes("change", [90, 80, 85]), budget=100)
    assert result.verdict is TrialVerdict.PROVED
    assert "rose from 11 to 85" in result.reason
    effect = result.effect("auc")
    assert effect is not None
    assert effect.improvement == 1.0
    assert effect.p_better == pytest.approx(0.05)


def test_a_change_that_loses_on_every_seed_is_refuted() -> None:
    result = judge("change", CHANGE, outcomes("baseline", [90, 80, 85]), outcomes("change", [10, 12, 11]), budget=100)
    assert result.verdict is TrialVerdict.REFUTED


def test_a_worse_end_refutes_whatever_the_mean_says() -> None:
    before = outcomes("baseline", [10, 11, 12], finals=[100, 101, 102])
    after = outcomes("change", [20, 21, 22], finals=[50, 51, 52])
    result = judge("change", CHANGE, before, after, budget=100)
    assert result.verdict is TrialVerdict.REFUTED
    assert "final return fell" in result.reason


def test_one_lost_comparison_of_three_seeds_proves_nothing() -> None:
    result = judge("change", CHANGE, outcomes("baseline", [10, 12, 86]), outcomes("change", [90, 80, 85]), budget=100)
    assert result.verdict is TrialVerdict.INCONCLUSIVE


def test_two_seeds_prove_nothing() -> None:
    result = judge("change", CHANGE, outcomes("baseline", [1, 2]), outcomes("change", [90, 80]), budget=100)
    assert result.verdict is TrialVerdict.INCONCLUSIVE
    assert "only 2 runs" in result.reason


def test_failed_runs_are_said_and_never_counted_as_results() -> None:
    broken = [Outcome("change", seed, OutcomeState.FAILED, error="nan") for seed in range(3)]
    result = judge("change", CHANGE, outcomes("baseline", [1, 2, 3]), broken, budget=100)
    assert result.verdict is TrialVerdict.INCONCLUSIVE
    assert "3 with the change failed" in result.reason


def test_runs_that_never_reach_the_threshold_count_as_the_whole_budget() -> None:
    before = outcomes("baseline", [1, 2, 3], steps=[None, None, None])
    after = outcomes("change", [7, 8, 9], steps=[40.0, 50.0, 60.0])
    effect = judge("change", CHANGE, before, after, budget=100).effect("steps-to-threshold")
    assert effect is not None
    assert effect.before == pytest.approx(100.0)
    assert effect.relative == pytest.approx(-0.5)
    assert effect.improvement == 1.0
    assert math.isfinite(effect.low)


def test_steps_to_threshold_are_left_out_where_no_run_reached_it() -> None:
    result = judge("change", CHANGE, outcomes("baseline", [1, 2, 3]), outcomes("change", [7, 8, 9]), budget=100)
    assert result.effect("steps-to-threshold") is None


def test_an_arm_is_given_up_when_no_further_seed_could_prove_it() -> None:
    before = outcomes("baseline", [10, 11, 12])
    assert can_still_be_proved(before, outcomes("change", [1, 20, 21]), planned=6)
    assert not can_still_be_proved(before, outcomes("change", [1, 2, 3]), planned=4)


def test_no_arm_is_given_up_before_it_has_three_seeds() -> None:
    assert can_still_be_proved(outcomes("baseline", [10]), outcomes("change", [1]), planned=3)


def test_several_arms_are_judged_by_holm() -> None:
    before = outcomes("baseline", [10, 12, 11, 13])
    sure, unsure = outcomes("a", [90, 80, 85, 95]), outcomes("b", [9, 12.5, 14, 13.5])
    arms = [judge(name, CHANGE, before, after, budget=100) for name, after in (("b", unsure), ("a", sure))]
    assert levels(arms) == [ALPHA / 2, ALPHA / 2], "the first that fails ends the ladder"
    assert levels([arms[1], arms[1]]) == [ALPHA / 2, ALPHA]
    assert levels(arms[1:]) == [ALPHA]


def test_three_seeds_do_not_prove_one_of_two_arms() -> None:
    before, after = outcomes("baseline", [10, 12, 11]), outcomes("a", [90, 80, 85])
    result = judge("a", CHANGE, before, after, budget=100, alpha=ALPHA / 2)
    assert result.verdict is TrialVerdict.INCONCLUSIVE
    assert "of at most 0.025 asked for" in result.reason


def curved(values: list[float], seed: int) -> Outcome:
    curve = tuple((10.0 * at, value) for at, value in enumerate(values))
    return Outcome("a", seed, OutcomeState.DONE, final_return=values[-1], auc=50.0, curve=curve)


def test_an_arm_that_loses_what_it_reached_falls_back() -> None:
    fallen = [0.0, 20, 60, 100, 100, 90, 60, 30, 20, 20]
    steady = [0.0, 20, 60, 100, 100, 99, 98, 99, 100, 99]
    peak, end = falls_back([curved(fallen, seed) for seed in range(3)]) or (0.0, 0.0)
    assert (peak, end) == (100.0, 20.0)
    assert falls_back([curved(steady, seed) for seed in range(3)]) is None
    assert falls_back([curved(fallen, 0), curved(steady, 1), curved(steady, 2)]) is None
