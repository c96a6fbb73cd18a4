"""The page of imitation: what it says is what is recorded."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from bench import imitation, imitation_experts


def test_the_page_is_that_of_the_record() -> None:
    assert imitation.PAGE.read_text(encoding="utf-8") == imitation.report()


@pytest.mark.parametrize(("name", "least"), [("cartpole", 500), ("acrobot", -200), ("pendulum", -400)])
def test_the_experts_solve_their_tasks(name: str, least: float) -> None:
    task = imitation.TASKS[name]
    environment, act = gymnasium.make(task.environment), getattr(imitation_experts, task.expert)
    seen, _ = environment.reset(seed=0)
    total, over = 0.0, False
    while not over:
        seen, reward, terminated, truncated, _ = environment.step(
            np.asarray(act(seen)) if name == "pendulum" else act(seen)
        )
        total, over = total + float(reward), terminated or truncated
    assert total >= least
