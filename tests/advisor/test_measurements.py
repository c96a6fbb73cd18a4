"""Measurements agree with truths that are known."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.advisor.measurements.reward_distance import Floats, reward_distance
from rlclinic.lab.instruments.two_sample import two_sample


def _reward(states: Floats, actions: Floats, following: Floats) -> Floats:
    return np.sin(2 * following[:, 0]) * actions[:, 0] + following[:, 1] * states[:, 0]


def _potential(states: Floats) -> Floats:
    return states[:, 0] ** 2 - 3.0 * states[:, 1]


def test_the_distance_of_rewards_ignores_scale_and_potential_and_knows_the_opposite() -> None:
    rng = np.random.default_rng(1)
    states, actions, following = rng.normal(size=(800, 2)), rng.normal(size=(800, 1)), rng.normal(size=(800, 2))
    gamma = 0.97

    def shaped(s: Floats, a: Floats, n: Floats) -> Floats:
        return 3.0 * _reward(s, a, n) + gamma * _potential(n) - _potential(s)

    def opposite(s: Floats, a: Floats, n: Floats) -> Floats:
        return -_reward(s, a, n)

    def other(s: Floats, a: Floats, n: Floats) -> Floats:
        return np.cos(5 * n[:, 1]) * a[:, 0] ** 2 - s[:, 1] * n[:, 0]

    far = {
        name: reward_distance(_reward, reward, states, actions, following, gamma)
        for name, reward in (("shaped", shaped), ("opposite", opposite), ("other", other))
    }
    assert far["shaped"] == pytest.approx(0.0, abs=1e-6)
    assert far["opposite"] == pytest.approx(1.0, abs=1e-6)
    assert 0.5 < far["other"] < 0.9


@pytest.mark.parametrize(
    ("shift", "scale", "least", "most"), [(0.0, 1.0, 0.42, 0.58), (0.5, 1.0, 0.58, 0.72), (0.0, 2.0, 0.85, 0.99)]
)
def test_a_classifier_tells_states_apart_as_far_as_they_differ(
    shift: float, scale: float, least: float, most: float
) -> None:
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(1500, 4)), scale * rng.normal(size=(1500, 4))
    second[:, 0] += shift
    episodes = np.repeat(np.arange(60), 50)
    found = two_sample(np.concatenate([first, second]), episodes, np.arange(3000) >= 1500)
    assert least <= found.auc <= most
    assert (found.p_value < 0.02) == (shift > 0 or scale > 1)


def test_episodes_that_only_differ_among_themselves_are_no_shift() -> None:
    rng = np.random.default_rng(5)
    offsets = np.repeat(rng.normal(size=(40, 3)) * 3.0, 50, axis=0)
    states = offsets + rng.normal(size=(2000, 3)) * 0.1
    found = two_sample(states, np.repeat(np.arange(40), 50), np.arange(2000) >= 1000)
    assert found.p_value > 0.02


def test_a_set_of_one_episode_is_refused() -> None:
    with pytest.raises(ValueError, match="two episodes"):
        two_sample(np.zeros((4, 1)), np.array([0, 0, 1, 2]), np.array([True, True, False, False]))
