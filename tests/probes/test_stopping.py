"""When a seed stops: a trainer whose value follows a given path through the budget of P1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlclinic.probes import UnknownSettings
from rlclinic.probes.seed_run import SeedResult
from tests.probes.one_seed import one_seed

BUDGET = 1600
"""Of P1 for on-policy trainers."""


class Scripted:
    """Steps its environment and claims a value that depends on the share of the budget alone."""

    def __init__(self, env: Any, path: Callable[[float], float]) -> None:
        self.env, self.path, self.steps = env, path, 0

    def train(self, env_steps: int) -> None:
        for _ in range(env_steps):
            self.env.reset()
            self.env.step(self.act(None))
        self.steps += env_steps

    def act(self, obs: Any) -> int:
        return 0

    def value(self, obs: Any) -> float:
        return self.path(self.steps / BUDGET)


def read(path: Callable[[float], float]) -> SeedResult:
    def make_trainer(env_fn: Any, *, seed: int, gamma: float, **settings: Any) -> Scripted:
        if unknown := set(settings) - {"n_steps"}:
            raise UnknownSettings(sorted(unknown))
        return Scripted(env_fn(), path)

    return one_seed(make_trainer, "P1")


def test_a_right_and_steady_answer_stops_a_seed_early() -> None:
    found = read(lambda _: 1.0)
    assert (found.passed, found.early) == (True, True)
    assert found.steps < BUDGET / 2


def test_a_wrong_answer_that_stands_still_stops_a_seed_early() -> None:
    found = read(lambda share: min(20 * share, 3.33))
    assert (found.passed, found.early) == (False, True)


def test_a_wrong_answer_that_creeps_towards_the_right_one_gets_time_to_arrive() -> None:
    found = read(lambda share: 0.8 + 0.15 * share)
    assert found.passed
    assert found.steps > 2 / 3 * BUDGET


def test_an_answer_that_creeps_away_does_not_get_more_time() -> None:
    assert read(lambda share: 0.8 - 0.15 * share).early


def test_a_value_that_never_moved_gets_its_whole_budget() -> None:
    found = read(lambda _: 0.0)
    assert (found.passed, found.early) == (False, False)
