"""What a departure from the well-known task says of the cause."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.series import FloatArray
from tests.rules.scene import POINTS, fault, scene

RNG = np.random.default_rng(5)
GROWING: FloatArray = np.linspace(20.0, 120.0, POINTS) + RNG.normal(0.0, 2.0, POINTS)
STEADY: FloatArray = np.full(POINTS, 22.0) + RNG.normal(0.0, 1.0, POINTS)
ABOUT = frozenset({"reward-scale-too-large", "reward-scale-too-small", "reward-sign-wrong", "uninformative-reward"})


def run(environment: str, returns: FloatArray, lengths: FloatArray) -> RunFacts:
    series = {"return/train": returns, "episode_length": lengths}
    return scene(environment=environment, series=series, config={"normalize_reward": False}, steps=200_000)


def causes(facts: RunFacts) -> dict[str, float]:
    return {cause.id: cause.probability for cause in diagnose(facts.run).causes}


@pytest.mark.parametrize(
    ("environment", "factor", "cause"),
    [
        ("CartPole-v1", 1e4, "reward-scale-too-large"),
        ("CartPole-v1", 1e-6, "reward-scale-too-small"),
        ("FrozenLake-v1", 1.0, "uninformative-reward"),
        ("CartPole-v1", -1.0, "reward-sign-wrong"),
    ],
)
def test_a_run_that_does_not_learn_is_told_what_is_odd_about_its_reward(
    environment: str, factor: float, cause: str
) -> None:
    found = causes(run(environment, factor * STEADY, STEADY))
    assert next(iter(found)) == cause


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 0.1, 100.0, 1e6])
def test_a_run_that_rises_is_never_told_that_its_reward_is_at_fault(factor: float) -> None:
    found = causes(run("CartPole-v1", factor * GROWING, GROWING))
    assert max((found.get(cause, 0.0) for cause in ABOUT), default=0.0) < 0.5


def test_a_return_of_the_other_sign_is_a_lead_while_it_rises() -> None:
    earned = np.linspace(1200.0, 1900.0, POINTS) + RNG.normal(0.0, 10.0, POINTS)
    found = causes(run("Pendulum-v1", earned, np.full(POINTS, 200.0)))
    assert 0.2 < found["reward-sign-wrong"] < 0.5


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("large_reward_ppo_cartpole", "reward-scale-too-large"),
        ("zero_reward_ppo_cartpole", "uninformative-reward"),
        ("constant_reward_ppo_cartpole", "episode-never-ends"),
        ("deaf_ppo_cartpole", "action-without-effect"),
    ],
)
def test_a_recorded_fault_of_the_environment_is_named(name: str, cause: str) -> None:
    assert next(iter(causes(fault(name)))) == cause


def test_a_return_that_no_policy_earns_is_a_lead_while_it_rises() -> None:
    earned = np.linspace(-14.0, -0.1, POINTS) + RNG.normal(0.0, 0.05, POINTS)
    found = causes(run("Reacher-v5", earned, np.full(POINTS, 50.0)))
    assert next(iter(found)) == "reward-hacking"
    assert found["reward-hacking"] < 0.5


def test_a_cut_before_the_goal_is_a_lead_while_the_return_rises() -> None:
    earned = np.linspace(-118.0, -9.0, POINTS) + RNG.normal(0.0, 2.0, POINTS)
    found = causes(run("CliffWalking-v1", earned, np.full(POINTS, 6.0)))
    assert next(iter(found)) == "termination-too-early"
    assert found["termination-too-early"] < 0.5


@pytest.mark.parametrize(("explained", "is_blind"), [(0.0, True), (0.8, False)])
def test_what_came_partway_with_a_critic_that_sees_nothing_lacks_the_state(explained: float, *, is_blind: bool) -> None:
    returns = np.concatenate([np.linspace(-90.0, -55.0, POINTS // 2), np.full(POINTS - POINTS // 2, -55.0)])
    series = {
        "return/train": returns + RNG.normal(0.0, 1.0, POINTS),
        "explained_variance": explained + RNG.normal(0.0, 0.02, POINTS),
        "value_loss": np.full(POINTS, 4.0),
    }
    facts = scene(series=series, config={"gamma": 0.99}, threshold=-20.0, budget=100_000, steps=100_000)
    leading = next(iter(causes(facts)))
    assert (leading in {"observation-corrupted", "observation-insufficient"}) is is_blind
