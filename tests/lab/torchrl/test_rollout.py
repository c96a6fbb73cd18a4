"""Collected experience: what is stored, where episodes end, and how it is scaled."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rlclinic.lab.torchrl.networks import Shape, policy
from rlclinic.lab.torchrl.normaliser import Moments, Normaliser
from rlclinic.lab.torchrl.replay import Replay
from rlclinic.lab.torchrl.rollout import Collector
from rlclinic.lab.torchrl.spaces import Spaces, spaces_of
from rlclinic.lab.torchrl.vector_env import Transition, VectorEnv
from rlclinic.model.errors import UsageError
from tests.lab.torchrl.small_envs import Counter, Pixels, Target

SHAPE = Shape((8,), (8,), "tanh", orthogonal=True)


def collector(lengths: list[int], *, truncate: bool = False, normalise: bool = False) -> Collector:
    torch.manual_seed(0)
    spaces = spaces_of(Counter.observation_space, Counter.action_space)
    row = VectorEnv([lambda length=length: Counter(length, truncate=truncate) for length in lengths], spaces, seed=0)
    normaliser = Normaliser(1, len(lengths), 0.9, observations=normalise, rewards=normalise)
    return Collector(row, policy(spaces, SHAPE), spaces, normaliser)


def test_the_observation_after_an_end_is_the_last_one_and_not_the_first_of_the_next_episode() -> None:
    batch = collector([3, 2], truncate=True).collect(5, lambda _: True, whole_episodes=False)
    assert batch is not None
    assert batch["observation"][0, :, 0].tolist() == [0, 1, 2, 0, 1]
    assert batch["next", "observation"][0, :, 0].tolist() == [1, 2, 3, 1, 2]
    assert batch["next", "done"][0, :, 0].tolist() == [False, False, True, False, False]
    assert not batch["next", "terminated"].any()
    assert batch["observation"][1, :, 0].tolist() == [0, 1, 0, 1, 0]
    assert batch["mask"].all()


def test_stored_log_probabilities_are_those_of_the_actor() -> None:
    source = collector([4])
    batch = source.collect(20, lambda _: True, whole_episodes=False)
    assert batch is not None
    dist = source._actor.get_dist(batch.select("observation"))
    assert torch.allclose(dist.log_prob(batch["action"]), batch["action_log_prob"], atol=1e-5)
    assert torch.allclose(dist.logits.softmax(-1), batch["behaviour", "logits"].softmax(-1), atol=1e-6)


def test_whole_episodes_are_played_to_their_end_and_resting_environments_are_masked() -> None:
    taken: list[int] = []
    batch = collector([3, 5]).collect(4, lambda count: taken.append(count) or True, whole_episodes=True)
    assert batch is not None
    assert batch["mask"].sum(1).tolist() == [6, 5]
    assert sum(taken) == 11
    ends = batch["next", "done"].squeeze(-1) & batch["mask"]
    assert ends.sum(1).tolist() == [2, 1]
    assert batch["next", "reward"][~batch["mask"]].abs().sum() == 0
    # The next call begins where each environment stopped: at the start of an episode.
    again = collector([3, 5])
    again.collect(4, lambda _: True, whole_episodes=True)
    following = again.collect(1, lambda _: True, whole_episodes=True)
    assert following is not None
    assert following["observation"][:, 0, 0].tolist() == [0, 0]


def test_collecting_stops_when_asked() -> None:
    calls: list[int] = []
    assert collector([3]).collect(50, lambda count: len(calls.append(count) or calls) < 5, whole_episodes=False) is None
    assert len(calls) == 5


def test_moments_do_not_depend_on_how_rows_were_batched() -> None:
    rows = np.random.default_rng(0).normal(3.0, 2.0, (100, 2))
    whole, parts = Moments(2), Moments(2)
    whole.add(rows)
    for part in np.array_split(rows, 7):
        parts.add(part)
    assert parts.mean == pytest.approx(rows.mean(0))
    assert parts.variance == pytest.approx(rows.var(0))
    assert whole.variance == pytest.approx(parts.variance)


def test_observation_statistics_hold_the_first_observation_of_every_episode() -> None:
    source = collector([2], normalise=True)
    source.collect(199, lambda _: True, whole_episodes=False)
    # Episodes of two steps act on 0 and 1 in turn; the last observation of an episode, 2, is never acted on.
    seen = source._normaliser.observation(np.array([[0.0], [1.0]], np.float32))
    assert seen[:, 0] == pytest.approx([-1, 1], abs=0.01)


def test_normalised_observations_and_rewards_have_unit_scale_and_survive_saving() -> None:
    random = np.random.default_rng(0)
    normaliser = Normaliser(2, 1, 0.0, observations=True, rewards=True)
    for _ in range(200):
        normaliser.see(random.normal(50.0, 10.0, (4, 2)).astype(np.float32))
        normaliser.reward(random.normal(0.0, 30.0, 1).astype(np.float32), np.zeros(1, bool), [0])
    scaled = normaliser.observation(random.normal(50.0, 10.0, (500, 2)).astype(np.float32))
    assert scaled.mean() == pytest.approx(0.0, abs=0.15)
    assert scaled.std() == pytest.approx(1.0, abs=0.15)
    again = Normaliser(2, 1, 0.0, observations=True, rewards=True)
    again.load(normaliser.to_arrays())
    sight = np.full((1, 2), 70.0, np.float32)
    assert again.observation(sight) == pytest.approx(normaliser.observation(sight))
    assert again._returns is not None
    assert again._returns.variance == pytest.approx(normaliser._returns.variance)  # type: ignore[union-attr]


def test_spaces_are_flat_for_the_networks_and_whole_for_the_environment() -> None:
    spaces = spaces_of(Target.observation_space, Target.action_space)
    assert spaces.encode([1, 3]).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert spaces.to_environment(np.array([[9.0, 0.0]])).tolist() == [[4.0, 0.0]]
    assert spaces.from_unit(np.array([[-1.0, 0.0]])).tolist() == [[-2.0, 1.0]]
    counted = spaces_of(Counter.observation_space, Counter.action_space)
    assert counted.to_environment(np.array([0, 1])).tolist() == [3, 4]
    assert counted.is_discrete


def test_images_are_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="images") as caught:
        spaces_of(Pixels.observation_space, Pixels.action_space)
    assert "sb3" in caught.value.hint


def ring(capacity: int) -> tuple[Replay, Spaces]:
    spaces = spaces_of(Target.observation_space, Target.action_space)
    return Replay(capacity, spaces), spaces


def remember(replay: Replay, spaces: Spaces, number: int) -> None:
    sight = np.full((1, spaces.observation_size), number, np.float32)
    yes, no = np.ones(1, bool), np.zeros(1, bool)
    step = Transition(sight + 1, np.full(1, number, np.float32), no, yes)
    replay.add(sight, np.zeros((1, 2), np.float32), step, step.reward)


def test_replay_keeps_the_newest_and_survives_saving() -> None:
    replay, spaces = ring(4)
    for number in range(6):
        remember(replay, spaces, number)
    again, _ = ring(4)
    again.load(replay.to_arrays())
    remember(again, spaces, 6)
    torch.manual_seed(0)
    batch = again.sample(200, lambda rows: rows)
    assert set(batch["next", "reward"].squeeze(-1).tolist()) == {3.0, 4.0, 5.0, 6.0}
    assert batch["next", "observation"][:, 0].tolist() == (batch["observation"][:, 0] + 1).tolist()
    assert batch["next", "done"].all()
    assert not batch["next", "terminated"].any()
