"""The recorder of training environments: it changes nothing, is bounded, survives other processes, and is read."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from rlclinic.environment import Observe, ObserveVector
from rlclinic.facts.environment.measure import facts_of, with_observed
from rlclinic.lab.instruments.observe import Recorder
from rlclinic.lab.instruments.track import MOST_ROWS, STRETCH
from rlclinic.model.transitions import Observed
from rlclinic.readers.open import read
from rlclinic.readers.transitions.trace import read_trace
from tests.environment.tasks import Slide


def _walk(environment: gymnasium.Env, steps: int) -> list[object]:
    environment.action_space.seed(0)
    seen = [environment.reset(seed=0)[0]]
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = environment.step(environment.action_space.sample())
        seen += [observation, reward, terminated, truncated]
        if terminated or truncated:
            seen.append(environment.reset()[0])
    return seen


def _observed(folder: Path, steps: int, copies: int = 1) -> Observed:
    recorder = Recorder(folder)
    for copy in range(copies):
        environment = Observe(Slide(), recorder=recorder)
        environment.reset(seed=copy)
        _walk(environment, steps)
    recorder.write()
    (folder / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n1,2\n", encoding="utf-8")
    found = read(folder).observed
    assert found is not None
    return found


def test_nothing_that_passes_through_is_changed(tmp_path: Path) -> None:
    plain, watched = _walk(Slide(), 300), _walk(Observe(Slide(), tmp_path), 300)
    assert all(np.array_equal(a, b) for a, b in zip(plain, watched, strict=True))


def test_what_was_watched_is_read_beside_the_run_and_measured(tmp_path: Path) -> None:
    seen = _observed(tmp_path, 1500, copies=2)
    assert seen.steps == 3000
    assert len(seen.episodes) == 120
    facts = facts_of(seen, "observed")
    assert facts.observation is not None
    assert facts.observation.explained > 0.9
    assert facts.reward is not None
    assert facts.reward.explained > 0.8
    assert facts.episodes is not None
    assert facts.episodes.truncated == 120
    assert facts.action is not None
    assert facts.action.gain > 0.05


def test_an_examination_is_joined_with_what_the_training_met(tmp_path: Path) -> None:
    seen = _observed(tmp_path, 400)
    facts = facts_of(seen, "observed")
    assert facts.observation is not None
    still = replace(facts.observation, constant=(0,), ranges=((0.0, 9.0), (0.0, 0.0)), outside=0.5, typical_size=np.nan)
    joined = with_observed(replace(facts, source="examined", observation=still, drift=np.nan), seen)
    assert joined.observed == 400
    assert joined.observation is not None
    assert joined.observation.constant == ()
    assert joined.observation.ranges[0] == (facts.observation.ranges[0][0], 9.0)
    assert joined.observation.typical_size == facts.observation.typical_size
    other = replace(facts, source="examined", observation=replace(still, names=("a", "b", "c")))
    assert "not joined" in with_observed(other, seen).skipped[0]


def test_the_record_alone_is_a_run_that_cannot_be_judged_and_a_trace(tmp_path: Path) -> None:
    environment = Observe(gymnasium.make("CartPole-v1"), tmp_path)
    _walk(environment, 400)
    environment.close()
    run = read(tmp_path)
    assert run.environment == "CartPole-v1"
    assert run.observed is not None
    assert not run.series
    (file,) = tmp_path.glob("observed-*.npz")
    steps = read_trace(file)
    assert len(steps) == len(run.observed.transitions)
    assert 0 < steps.terminated.sum() == run.observed.transitions.terminated.sum()


def test_the_sample_stays_bounded_and_covers_the_whole_run(tmp_path: Path) -> None:
    seen = _observed(tmp_path, 20_000)
    steps = seen.transitions
    assert MOST_ROWS / 4 < len(steps) <= MOST_ROWS + STRETCH
    assert steps.clock.max() > 0.8 * 20_000
    follows = steps.follows
    assert np.array_equal(steps.observations[follows], steps.next_observations[np.flatnonzero(follows) - 1])


def test_a_copy_in_another_process_keeps_a_record_of_its_own(tmp_path: Path) -> None:
    environment = Observe(Slide(), tmp_path)
    _walk(environment, 50)
    copied = pickle.loads(pickle.dumps(environment))  # noqa: S301 - our own object
    _walk(copied, 50)
    environment.close()
    (found,) = tmp_path.glob("observed-*.npz")
    assert found.stat().st_size > 0


def test_a_vector_of_environments_is_watched_row_by_row(tmp_path: Path) -> None:
    envs = ObserveVector(gymnasium.vector.SyncVectorEnv([Slide] * 3), tmp_path)
    envs.reset(seed=0)
    envs.action_space.seed(0)
    for _ in range(200):
        envs.step(envs.action_space.sample())
    envs.close()
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n1,2\n", encoding="utf-8")
    seen = read(tmp_path).observed
    assert seen is not None
    assert set(seen.episodes.copies.tolist()) == {0, 1, 2}
    assert set(seen.episodes.lengths.tolist()) == {25.0}


def test_a_damaged_record_is_a_note_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n1,2\n", encoding="utf-8")
    (tmp_path / "observed-1.npz").write_bytes(b"PK\x03\x04 not an archive")
    run = read(tmp_path)
    assert run.observed is None
    assert any("observed-1.npz" in note for note in run.provenance.notes)


def test_of_many_records_that_fill_the_memory_only_the_first_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = Observe(gymnasium.make("CartPole-v1"), tmp_path)
    _walk(environment, 60)
    environment.close()
    (file,) = tmp_path.glob("observed-*.npz")
    for name in ("observed-x.npz", "observed-y.npz"):
        (tmp_path / name).write_bytes(file.read_bytes())
    whole = read(tmp_path).observed
    monkeypatch.setattr("rlclinic.readers.transitions.observed.MOST_OF_ALL", 1_000)
    run = read(tmp_path)
    assert whole is not None
    assert run.observed is not None
    assert (whole.steps, run.observed.steps) == (180, 60)
    assert any("2 files that Observe wrote are not read" in note for note in run.provenance.notes)


@pytest.mark.slow
def test_a_training_that_is_watched_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    from stable_baselines3 import PPO

    def trained(environment: gymnasium.Env) -> list[np.ndarray]:
        model = PPO("MlpPolicy", environment, n_steps=64, batch_size=32, n_epochs=2, seed=3, device="cpu").learn(256)
        return [value.detach().numpy() for value in model.policy.parameters()]

    pairs = zip(trained(Slide()), trained(Observe(Slide(), tmp_path)), strict=True)
    assert all(np.array_equal(plain, watched) for plain, watched in pairs)


@pytest.mark.parametrize("how", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_copies_in_other_processes_write_files_of_their_own(tmp_path: Path, how: str) -> None:
    context = multiprocessing.get_context(how)
    environment = Observe(Slide(), tmp_path)
    _walk(environment, 30)
    workers = [context.Process(target=_walked, args=(environment,)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    environment.close()
    files = sorted(tmp_path.glob("observed-*.npz"))
    assert len(files) == 3
    assert {json.loads(np.load(file)["told"].tobytes())["steps"] for file in files} == {30, 40}


def _walked(environment: gymnasium.Env) -> None:
    _walk(environment, 40)
    environment.close()
