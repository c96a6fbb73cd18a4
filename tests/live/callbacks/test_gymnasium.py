"""The wrapper looks on: episodes and reward components reach the monitor, and nothing of the environment changes."""

from __future__ import annotations

import numpy as np
import pytest

import rlclinic

gymnasium = pytest.importorskip("gymnasium")

from rlclinic.live.callbacks.gymnasium import ClinicWrapper  # noqa: E402


class Components(gymnasium.Wrapper):
    """CartPole whose reward has two parts."""

    def step(self, action: int) -> tuple:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, {**info, "reward_alive": 0.75, "reward_upright": 0.25}


def played(env: object, steps: int = 600) -> list[float]:
    env.action_space.seed(0)
    seen = [float(env.reset(seed=0)[0].sum())]
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        seen += [float(observation.sum()), reward]
        if terminated or truncated:
            seen.append(float(env.reset()[0].sum()))
    return seen


def test_episodes_and_components_are_told_and_the_environment_is_what_it_was() -> None:
    monitor = rlclinic.monitor(sinks=[], share=1e-9)
    wrapped = ClinicWrapper(Components(gymnasium.make("CartPole-v1")), monitor, count=4, every=100)
    assert played(wrapped) == played(Components(gymnasium.make("CartPole-v1")))
    run = monitor.record.run()
    assert run.steps == 2_400, "env steps over all environments"
    assert 10 < run["return/train"].last < 40
    assert run["reward/alive"].last == pytest.approx(0.75)
    assert run["reward/step"].last == pytest.approx(1.0)


def test_a_fault_in_the_wrapper_never_reaches_the_loop() -> None:
    monitor = rlclinic.monitor(sinks=[])
    env = ClinicWrapper(gymnasium.make("CartPole-v1"), monitor, every=1)
    env._episodes = None
    env.reset(seed=0)
    assert np.isfinite(env.step(0)[1])
    assert list(monitor.guard.off) == ["the wrapper"]
