"""What steps that were foretold once tell of a task that changes."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.environment.measure import drift
from rlclinic.model.transitions import Space, Transitions

ROWS = 3000
BOX = Space("box", np.array([-np.inf]), np.array([np.inf]))


def _steps(*, pushed: float = 1.0, moved: float = 0.0) -> Transitions:
    """A third each: as it is, between, and with other effects of the action or at another place."""
    rng = np.random.default_rng(0)
    late = np.arange(ROWS) >= 2 * ROWS // 3
    at = rng.uniform(-1.0, 1.0, ROWS) + moved * late
    action = rng.uniform(-1.0, 1.0, ROWS)
    after = at + 0.3 * np.sin(3.0 * at) + np.where(late, pushed, 1.0) * 0.5 * action
    none, count = np.zeros(ROWS, dtype=bool), np.arange(ROWS)
    return Transitions(
        BOX, BOX, at[:, None], action[:, None], np.zeros(ROWS), after[:, None], none, none, count // 50, count % 50,
        np.zeros(ROWS, dtype=np.int64), count,
    )  # fmt: skip


def test_actions_that_do_the_opposite_later_are_drift() -> None:
    worse, own = drift(_steps(pushed=-1.0))
    assert worse > 0.5
    assert own > 0.9


def test_a_task_that_stays_as_it_is_does_not_drift() -> None:
    worse, own = drift(_steps())
    assert worse < 0.05
    assert own > 0.9


def test_a_policy_that_came_to_another_place_is_not_judged() -> None:
    worse, _ = drift(_steps(moved=8.0))
    assert math.isnan(worse)
