"""The sentences on goals say what the numbers say."""

import pytest

pytest.importorskip("stable_baselines3")

from bench.lab_goals import optimize_goal, overhead_goal, repair_goals
from bench.repair.score import Case, Harm


def case(fault: str, first: float, rounds: float) -> Case:
    return Case("task", fault, True, False, 1, 0.1, first, first, rounds, 0.0, 0.0)


def test_goals_of_repair_are_judged_one_by_one_and_what_is_left_is_named() -> None:
    cases = [case(str(number), 1.0, 1.0) for number in range(9)] + [case("stubborn", 0.2, 0.4)]
    told = repair_goals(cases, Harm(treatments=60, on_healthy=0, seen=0, confirmed=0))
    assert "80% by the first prescription is reached" in told
    assert "95% by three rounds is not reached" in told
    assert "after three rounds: task stubborn." in told
    assert "90 more are to be trained" in told
    assert "90 more" not in repair_goals(cases, Harm(treatments=150, on_healthy=0, seen=0, confirmed=0))


def test_the_goal_of_optimise_is_half_the_steps_on_the_median_pair() -> None:
    good = {name: [0.4, 0.6] for name in "abcd"}
    assert "not reached" not in optimize_goal({**good, "d": [0.3, 0.4]}, [0.3])
    poor = optimize_goal({"a": [1.2]}, [0.4])
    assert "By them the goal is not reached" in poor
    assert "0.40 of TPE's steps (median of 1 pairs; goal: 0.5; 1 pairs reach it" in poor
    assert "1 of 8 pairs" in poor
    assert optimize_goal({}, []) == "Nothing is measured yet."


@pytest.mark.parametrize(
    ("share", "pairs", "words"),
    [
        (0.01, 5, "All goals are reached."),
        (0.03, 5, "Above the goal of 2%: PPO (3.0%)"),
        (0.01, 4, "Fewer than 5 pairs are measured of PPO."),
    ],
)
def test_overhead_names_the_algorithms_above_its_goal(share: float, pairs: int, words: str) -> None:
    assert words in overhead_goal({"PPO": {"share": share, "pairs": pairs}})


def test_no_repair_goal_is_decided_while_configurations_wait_for_their_treatment() -> None:
    told = repair_goals([], Harm(0, 0, 0, 0), untreated=3)
    assert "by the first prescription is not decided: 3 configurations are not treated yet" in told
    assert "is reached" not in told
