"""The test of a shaping term: potentials are found with their gamma, and other terms are told from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.environment.play import play, recorder_of
from rlclinic.facts.environment.shaping import shaping_facts
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import Transitions
from rlclinic.rules.environment.shaping_changes_the_task import LIMITS
from tests.environment.tasks import Slide


@pytest.fixture(scope="module")
def steps() -> Transitions:
    environment = Slide()
    record, space = recorder_of(environment), environment.action_space
    space.seed(0)
    for seed in range(60):
        play(environment, lambda _: space.sample(), record, seed=seed, end=float("inf"))
    return record.transitions()


def _potential(seen: FloatArray) -> FloatArray:
    found: FloatArray = 3.0 - np.abs(seen[:, 0]) + 0.2 * seen[:, 1] ** 2
    return found


@pytest.mark.parametrize(("gamma", "told"), [(0.9, 0.9), (0.99, None), (1.0, None)])
def test_the_difference_of_a_potential_is_found_with_its_gamma(
    steps: Transitions, gamma: float, told: float | None
) -> None:
    term = gamma * _potential(steps.next_observations) - _potential(steps.observations)
    found = shaping_facts(replace(steps, components={"shaping": term}))
    assert found is not None
    assert found.residual < LIMITS.fitted
    # Gammas near 1 leave nearly the same over ten steps.
    assert found.gamma == told if told else not found.gamma < 0.98


def test_a_term_that_pays_for_being_near_or_for_actions_is_no_potential(steps: Transitions) -> None:
    for term in (-np.abs(steps.next_observations[:, 0]), 1.0 * (np.abs(steps.actions[:, 0]) > 0.5)):
        found = shaping_facts(replace(steps, components={"reward_shaping": term}))
        assert found is not None
        assert found.residual > LIMITS.residual


def test_components_that_are_not_called_so_are_left_alone(steps: Transitions) -> None:
    assert shaping_facts(replace(steps, components={"alive": np.arange(float(len(steps)))})) is None
    assert shaping_facts(replace(steps, components={"shaping": np.ones(len(steps))})) is None
