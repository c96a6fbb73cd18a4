"""Advice that is known to do harm is never given."""

from __future__ import annotations

import pytest

from rlclinic.model.diagnosis import Verdict
from rlclinic.model.prescription import Prescription, PrescriptionKind
from tests.prescriptions.made import PPO, SAC, advised, changed_keys, made_run

CARTPOLE = made_run({**PPO, "learning_rate": 1e-3})


def raises(made: tuple[Prescription, ...], key: str) -> bool:
    return any(_number(after) > _number(before) for name, (before, after) in changed_keys(made).items() if name == key)


def lowers(made: tuple[Prescription, ...], key: str) -> bool:
    return any(_number(after) < _number(before) for name, (before, after) in changed_keys(made).items() if name == key)


@pytest.mark.parametrize(
    "signs",
    [
        ("clip-fraction-zero",),
        ("clip-fraction-zero", "kl-vanishes", "return-scale-huge"),
        ("clip-fraction-zero", "kl-vanishes", "returns-too-large-for-critic"),
        ("clip-fraction-zero", "kl-vanishes", "policy-died-early"),
        ("clip-fraction-zero", "kl-vanishes", "entropy-fell-early"),
    ],
)
def test_the_learning_rate_is_not_raised_because_nothing_is_clipped(signs: tuple[str, ...]) -> None:
    made = advised(CARTPOLE, {"learning-rate-too-low": 0.7}, *signs)
    assert not raises(made, "learning_rate")
    assert made[0].kind is PrescriptionKind.CHECK


def test_a_rate_below_what_works_with_a_vanishing_kl_is_raised() -> None:
    slow = made_run({**PPO, "learning_rate": 1e-6})
    assert raises(advised(slow, {"learning-rate-too-low": 0.7}, "clip-fraction-zero", "kl-vanishes"), "learning_rate")


@pytest.mark.parametrize(
    "cause", ["learning-rate-too-high", "too-many-epochs", "clip-range-too-tight", "batch-too-small"]
)
def test_the_clip_range_is_not_widened_because_much_is_clipped(cause: str) -> None:
    made = advised(CARTPOLE, {cause: 0.7}, "clip-fraction-high", "kl-too-large", verdict=Verdict.UNSTABLE)
    assert made
    assert not raises(made, "clip_range")


def test_a_clip_range_tighter_than_in_working_configs_is_set_back() -> None:
    tight = made_run({**PPO, "clip_range": 0.001})
    made = advised(tight, {"clip-range-too-tight": 0.7}, "clip-fraction-without-kl")
    assert changed_keys(made) == {"clip_range": (0.001, 0.2)}


def test_the_rewards_of_sac_are_not_divided_without_the_temperature() -> None:
    fixed = made_run(SAC, algorithm="SAC", environment="Pendulum-v1", series={"return/train": [-16_000.0] * 40})
    made, *_ = advised(fixed, {"reward-scale-too-large": 0.7}, "return-scale-huge")
    assert made.changes == ()
    assert "1000" in made.instruction
    assert "temperature" in made.instruction
    assert "ent_coef" in made.instruction


def test_a_setting_for_the_reward_scale_of_sac_moves_the_temperature_with_it() -> None:
    native = {"reward_scaler": 1.0, "alpha": 0.2, "autotune": False, "policy_lr": 3e-4, "total_timesteps": 50_000}
    run = made_run(native, framework_id="cleanrl", algorithm="SAC", series={"return/train": [900.0] * 40})
    made = advised(run, {"reward-scale-too-large": 0.7}, "return-scale-huge")
    assert changed_keys(made) == {"reward_scale": (1.0, 0.01), "ent_coef": (0.2, 0.002)}


@pytest.mark.parametrize("length", [400.0, 1_000.0])
def test_gamma_is_not_lowered_on_a_task_with_a_long_horizon(length: float) -> None:
    run = made_run({**PPO, "gamma": 0.995}, environment="MyRobot-v0", series={"episode_length": [length] * 40})
    made = advised(run, {"discount-too-high": 0.7}, "value-loss-grows")
    assert not lowers(made, "gamma")
    assert made[0].kind is PrescriptionKind.CHECK


def test_gamma_is_not_lowered_where_the_length_of_episodes_is_not_known() -> None:
    run = made_run({**PPO, "gamma": 0.999}, environment="MyRobot-v0")
    assert not lowers(advised(run, {"discount-too-high": 0.7}), "gamma")


def test_gamma_is_lowered_where_episodes_are_short() -> None:
    run = made_run({**PPO, "gamma": 0.999}, environment="MyRobot-v0", series={"episode_length": [50.0] * 40})
    assert lowers(advised(run, {"discount-too-high": 0.7}), "gamma")


@pytest.mark.parametrize(
    ("rival", "signs"),
    [
        ({"reward-scale-too-large": 0.3}, ("entropy-fell-early",)),
        ({"observations-unnormalised": 0.25}, ("entropy-fell-early",)),
        ({}, ("entropy-fell-early", "return-scale-huge")),
    ],
)
def test_no_entropy_bonus_is_given_for_a_fault_of_scale(rival: dict[str, float], signs: tuple[str, ...]) -> None:
    made = advised(CARTPOLE, {"entropy-bonus-too-low": 0.45, **rival}, *signs)
    assert "ent_coef" not in changed_keys(made)
    assert made


def test_an_entropy_bonus_is_given_where_the_scale_is_sound() -> None:
    assert raises(advised(CARTPOLE, {"entropy-bonus-too-low": 0.6}, "entropy-fell-early"), "ent_coef")


@pytest.mark.parametrize(
    ("shares", "signs"),
    [
        ({"learning-rate-too-high": 0.5, "implementation-bug": 0.3}, ("kl-too-large",)),
        ({"learning-rate-too-high": 0.6, "implementation-bug": 0.16}, ("kl-too-large",)),
        ({"learning-rate-too-high": 0.6}, ("kl-too-large", "part-gets-no-gradient")),
        ({"learning-rate-too-high": 0.6}, ("kl-too-large", "ratio-never-moves")),
        ({"numerical-failure": 0.4, "learning-rate-too-high": 0.35}, ("not-a-number",)),
    ],
)
def test_no_smaller_learning_rate_hides_a_bug(shares: dict[str, float], signs: tuple[str, ...]) -> None:
    run = made_run({**PPO, "learning_rate": 0.01})
    made = advised(run, shares, *signs, verdict=Verdict.COLLAPSED)
    assert not lowers(made, "learning_rate")
    assert any("probe" in item.instruction or "not finite" in item.instruction for item in made)


def test_a_rate_that_no_working_config_comes_near_is_lowered_all_the_same() -> None:
    run = made_run({**PPO, "learning_rate": 0.3})
    made = advised(run, {"learning-rate-too-high": 0.9}, "kl-too-large", "worse-than-random", verdict=Verdict.COLLAPSED)
    assert lowers(made, "learning_rate")


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)


def test_a_rate_that_is_not_known_is_not_taken_to_be_raised_where_it_is_too_high() -> None:
    run = made_run({}, algorithm="SAC", series={"return/train": [500.0] * 40})
    told = advised(run, {"learning-rate-too-high": 0.3, "reward-scale-too-large": 0.29})
    assert not any("Do not raise the learning rate" in item.instruction for item in told)
