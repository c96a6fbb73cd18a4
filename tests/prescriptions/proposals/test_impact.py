"""Expected impact: probability times effect over all causes, and honesty about what it rests on."""

from __future__ import annotations

import math

import pytest

from rlclinic.model.effect import EffectRow
from rlclinic.model.prescription import Basis, Impact, Priority, Safety
from rlclinic.prescriptions.proposals.effects import Effects, packaged_effects
from rlclinic.prescriptions.proposals.impact import PlannedChange, impact_of, priority_of
from rlclinic.prescriptions.remedies.table import Reach
from tests.prescriptions.made import PPO, assessment_of, made_run

MOVE = PlannedChange("learning_rate", "down", Reach.BLOCKING, Safety.SAFE, frozenset({"learning-rate-too-high"}))
ENVIRONMENTS = ("CartPole-v1", "Acrobot-v1", "LunarLander-v3", "Pendulum-v1")


def row(environment: str, effect: float, cause: str = "learning-rate-too-high", seeds: int = 5) -> EffectRow:
    return EffectRow(cause, "learning_rate", "down", environment, "PPO", "steps-to-threshold", effect, seeds, "trial 1")


def impact(shares: dict[str, float], rows: list[EffectRow]) -> Impact:
    return impact_of(assessment_of(made_run(PPO), shares), MOVE, Effects(tuple(rows)))


def test_fewer_than_three_environments_are_a_guess() -> None:
    rows = [row(name, -0.5) for name in ENVIRONMENTS[:2]]
    assert impact({"learning-rate-too-high": 1.0}, rows).basis is Basis.GUESS


def test_three_environments_are_a_measurement_with_a_predictive_interval() -> None:
    effects = (-0.6, -0.5, -0.4)
    found = impact({"learning-rate-too-high": 1.0}, [row(e, x) for e, x in zip(ENVIRONMENTS, effects, strict=False)])
    # Student's t with 2 degrees of freedom at 80%: 1.886; spread 0.1; a new environment adds its own.
    reach = 1.886 * 0.1 * math.sqrt(1 + 1 / 3)
    assert found.basis is Basis.MEASURED
    assert found.low == pytest.approx(-0.5 - reach, abs=0.01)
    assert found.high == pytest.approx(-0.5 + reach, abs=0.01)
    assert "3 environments" in found.source


def test_more_seeds_on_one_environment_do_not_make_more_environments() -> None:
    rows = [row("CartPole-v1", -0.5, seeds=50) for _ in range(5)]
    assert impact({"learning-rate-too-high": 1.0}, rows).basis is Basis.GUESS


def test_harm_under_other_causes_counts_against_a_change() -> None:
    helps = [row(name, -0.5) for name in ENVIRONMENTS]
    harms = [row(name, 0.4, "nothing-wrong") for name in ENVIRONMENTS]
    sure = impact({"learning-rate-too-high": 1.0}, helps + harms)
    unsure = impact({"learning-rate-too-high": 0.5, "nothing-wrong": 0.5}, helps + harms)
    assert (sure.low, sure.high) == (-0.5, -0.5)
    assert unsure.low == pytest.approx(-0.05)
    assert unsure.basis is Basis.MEASURED


def test_the_impact_is_the_sum_over_causes_of_probability_times_effect() -> None:
    helps = [row(name, x) for name, x in zip(ENVIRONMENTS, (-0.6, -0.5, -0.4), strict=False)]
    harms = [row(name, x, "nothing-wrong") for name, x in zip(ENVIRONMENTS, (0.1, 0.2, 0.3), strict=False)]
    found = impact({"learning-rate-too-high": 0.6, "nothing-wrong": 0.3}, helps + harms)
    # By hand: both have a spread of 0.1 over 3 environments; what is left of the probability is guessed harm, 0 to 0.1.
    # The quantile of the t distribution is approximated to half a percent.
    reach = 1.8856 * 0.1 * math.sqrt(1 + 1 / 3)
    assert found.low == pytest.approx(0.6 * (-0.5 - reach) + 0.3 * (0.2 - reach) + 0.1 * 0.0, abs=0.002)
    assert found.high == pytest.approx(0.6 * (-0.5 + reach) + 0.3 * (0.2 + reach) + 0.1 * 0.1, abs=0.002)
    assert found.basis is Basis.MEASURED
    assert found.source == (
        "measured in 3 trials on 3 environments under learning-rate-too-high; "
        "in 3 trials on 3 environments under nothing-wrong"
    )


def test_several_trials_on_one_environment_count_once_by_their_seeds() -> None:
    rows = [row("CartPole-v1", -0.8, seeds=1), row("CartPole-v1", -0.4, seeds=3)]
    rows += [row(name, -0.5) for name in ENVIRONMENTS[1:3]]
    found = impact({"learning-rate-too-high": 1.0}, rows)
    assert (found.low, found.high) == (-0.5, -0.5)
    assert "in 4 trials on 3 environments" in found.source


def test_a_likely_cause_without_a_measurement_makes_the_whole_a_guess() -> None:
    rows = [row(name, -0.5) for name in ENVIRONMENTS]
    found = impact({"learning-rate-too-high": 0.7, "too-many-epochs": 0.3}, rows)
    assert found.basis is Basis.GUESS
    assert "too-many-epochs" in found.source


def test_a_guess_shrinks_with_the_probability_of_its_cause() -> None:
    strong, weak = impact({"learning-rate-too-high": 0.9}, []), impact({"learning-rate-too-high": 0.2}, [])
    assert strong.low < weak.low < 0
    assert weak.high > strong.high


def test_without_a_goal_the_final_return_is_what_rises() -> None:
    assessment = assessment_of(made_run(PPO, environment="MyRobot-v0"), {"learning-rate-too-high": 0.9})
    found = impact_of(assessment, MOVE, Effects())
    assert found.metric == "final-return"
    assert 0 < found.low < found.high


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (-0.5, -0.2, Priority.HIGH),
        (-0.4, 0.0, Priority.MEDIUM),
        (-0.2, -0.1, Priority.MEDIUM),
        (-0.1, 0.05, Priority.LOW),
        (0.0, 0.4, Priority.LOW),
    ],
)
def test_priorities_follow_the_expected_saving(low: float, high: float, wanted: Priority) -> None:
    assert priority_of(Impact("steps-to-threshold", low, high, Basis.GUESS)) is wanted
    assert priority_of(Impact("final-return", -high, -low, Basis.GUESS)) is wanted


def test_rows_of_a_ledger_join_the_packaged_ones() -> None:
    joined = packaged_effects().joined([row("CartPole-v1", -0.5)])
    assert len(joined.rows) == len(packaged_effects().rows) + 1


@pytest.mark.parametrize("effect", [float("nan"), float("inf")])
def test_an_effect_is_finite(effect: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        row("CartPole-v1", effect)
