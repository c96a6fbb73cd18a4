"""What the watch around an environment reports."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest

from rlclinic.lab.environments import make_environment
from rlclinic.lab.errors import EnvironmentFault, TrainingError
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.instruments.watch import EpisodeWatch, RepeatAction, RewardChange, StackImages, stop_where_not_finite
from rlclinic.lab.sb3.model import build_model
from tests.lab.environments import Faulty, small


def play(environment: gymnasium.Env, steps: int) -> None:  # type: ignore[type-arg]
    environment.reset(seed=0)
    for _ in range(steps):
        *_, terminated, truncated, _ = environment.step(environment.action_space.sample())
        if terminated or truncated:
            environment.reset()


def test_returns_lengths_and_ends_are_those_of_the_task() -> None:
    log = EpisodeLog()
    play(RewardChange(EpisodeWatch(Faulty(at=1000, length=10), log), 100.0, 1.0), 25)
    row = log.take()
    assert (row["train/roll/ep_rew/mean"], row["train/roll/ep_len/mean"]) == (10.0, 10.0)
    assert (row["train/roll/truncation_rate"], row["train/cnt/total_episodes"]) == (1.0, 2)
    assert row["train/roll/reward/mean"] == 1.0


def test_reward_components_of_info_are_means_per_step() -> None:
    log = EpisodeLog()
    play(EpisodeWatch(Faulty(at=1000), log), 30)
    row = log.take()
    assert row["train/roll/reward_part/alive"] == pytest.approx(0.75)
    assert row["train/roll/reward_part/speed"] == pytest.approx(0.25)
    assert "train/roll/reward_part/fast" not in row


def test_components_in_a_group_are_found_and_there_is_an_end_to_them() -> None:
    log = EpisodeLog()
    log.end(1.0, 1, truncated=False)
    log.add({"reward_components": {f"part{n}": 1.0 for n in range(100)}})
    parts = [name for name in log.take() if "reward_part" in name]
    assert 0 < len(parts) <= 24


def test_terminations_are_not_truncations() -> None:
    log = EpisodeLog()
    play(EpisodeWatch(gymnasium.make("CartPole-v1"), log), 200)
    assert log.take()["train/roll/truncation_rate"] == 0.0


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raise", "raised ValueError: the wheel came off in step 3 of episode 1"),
        ("nan reward", "returned the reward nan in step 3 of episode 1"),
    ],
)
def test_a_fault_is_named_with_its_place(fault: str, words: str) -> None:
    with pytest.raises(EnvironmentFault, match=words):
        play(EpisodeWatch(Faulty(at=3, fault=fault), EpisodeLog()), 10)


def test_a_policy_that_diverged_is_no_fault_of_the_environment() -> None:
    environment = EpisodeWatch(gymnasium.make("Pendulum-v1"), EpisodeLog())
    environment.reset(seed=0)
    environment.step(np.zeros(1, np.float32))
    with pytest.raises(TrainingError, match="the policy's action is not finite in step 2 of episode 1"):
        environment.step(np.full(1, np.nan, np.float32))


def test_an_observation_that_is_not_finite_is_named_with_its_place() -> None:
    log = EpisodeLog()
    sound, faulty = (EpisodeWatch(Faulty(at=at, fault="infinite observation"), log) for at in (1000, 3))
    for environment in (sound, faulty):
        environment.reset(seed=0)
    for _ in range(3):
        seen = np.stack([environment.step(0)[0] for environment in (sound, faulty)])
    with pytest.raises(EnvironmentFault, match="returned infinity in its observation in step 3 of episode 1"):
        stop_where_not_finite([sound, faulty], seen)
    stop_where_not_finite([sound, sound], seen[:1].repeat(2, axis=0))


def test_the_last_observation_of_an_episode_is_looked_at_too() -> None:
    environment = EpisodeWatch(Faulty(at=3, fault="infinite observation", length=3), EpisodeLog())
    with pytest.raises(EnvironmentFault, match="returned infinity in its observation in step 3"):
        play(environment, 3)


def test_a_training_stops_at_nan_and_not_at_large_numbers() -> None:
    environments = build_model(small("A2C"), EpisodeLog()).env
    environments.reset()
    environments.buf_obs[None][:] = 1e30
    assert np.all(environments._obs_from_buf() == np.float32(1e30))
    environments.buf_obs[None][1, 2] = math.nan
    with pytest.raises(EnvironmentFault, match="returned NaN in its observation"):
        environments._obs_from_buf()


@pytest.mark.parametrize(("scale", "limit", "expected"), [(0.1, None, 0.1), (5.0, 2.0, 2.0), (-5.0, 2.0, -2.0)])
def test_the_learner_s_reward_is_scaled_and_clipped(scale: float, limit: float | None, expected: float) -> None:
    changed = RewardChange(Faulty(at=1000), scale, limit)
    changed.reset()
    assert changed.step(0)[1] == pytest.approx(expected)


def test_a_repeated_action_adds_up_its_rewards_and_ends_with_the_episode() -> None:
    repeated = RepeatAction(Faulty(at=1000, length=5), 3)
    repeated.reset()
    assert repeated.step(0)[1:4] == (3.0, False, False)
    assert repeated.step(0)[1:4] == (2.0, False, True)


def test_frames_are_stacked_along_the_channels() -> None:
    class Pictures(Faulty):
        observation_space = gymnasium.spaces.Box(0, 255, (4, 4, 3), np.uint8)

        def reset(self, **_: object) -> tuple[np.ndarray, dict[str, object]]:  # type: ignore[type-arg]
            return np.zeros((4, 4, 3), np.uint8), {}

        def step(self, action: object) -> tuple[object, ...]:
            return np.full((4, 4, 3), 7, np.uint8), 0.0, False, False, {}

    stacked = StackImages(Pictures(), 2)
    assert stacked.observation_space.shape == (4, 4, 6)
    stacked.reset()
    frame = stacked.step(0)[0]
    assert (frame[..., :3].max(), frame[..., 3:].min()) == (0, 7)


def test_the_training_environment_has_what_only_training_sees() -> None:
    recipe = small("PPO", hyperparameters={"reward_scale": 0.5, "max_episode_steps": 5, "frame_stack": 2})
    training, judging = make_environment(recipe, EpisodeLog()), make_environment(recipe)
    for environment, reward in ((training, 0.5), (judging, 1.0)):
        observation, _ = environment.reset(seed=1)
        assert observation.shape == (2, 4)
        results = [environment.step(0) for _ in range(5)]
        assert results[0][1] == reward
        assert results[-1][3] or results[-1][2]


def test_the_mean_reward_counts_episodes_that_go_on_and_those_that_were_left() -> None:
    log = EpisodeLog()
    watch = EpisodeWatch(gymnasium.make("CartPole-v1"), log)
    watch.reset(seed=0)
    for _ in range(5):
        watch.step(0)
    assert log.take()["train/roll/reward/mean"] == pytest.approx(1.0)
    watch.step(1)
    watch.reset(seed=1)
    watch.step(0)
    row = log.take()
    assert row["train/roll/reward/mean"] == pytest.approx(1.0)
    assert row["train/cnt/total_episodes"] == 0
    assert "train/roll/reward/mean" not in log.take()
