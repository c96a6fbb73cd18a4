"""The code that is recommended runs, with the real libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlclinic.prescriptions.remedies.snippets import snippet

gym = pytest.importorskip("gymnasium")


def run(name: str, framework: str, **names: Any) -> dict[str, Any]:
    """Execute a snippet of this repository with some names given, and return all names."""
    exec(snippet(name, framework), names)
    return names


def episode(env: Any) -> tuple[Any, float]:
    """The first observation and the return of one random episode."""
    first, _ = env.reset(seed=0)
    env.action_space.seed(0)
    total, done = 0.0, False
    while not done:
        _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        total, done = total + float(reward), terminated or truncated
    return first, total


def test_gymnasium_wrappers_give_a_working_environment() -> None:
    for name in ("normalise_observations", "scale_rewards", "frame_stack", "time_limit", "record_returns"):
        env = run(name, "cleanrl", env=gym.make("CartPole-v1"), gamma=0.99)["env"]
        first, _ = episode(env)
        assert np.isfinite(first).all(), name


def test_dividing_rewards_divides_the_return() -> None:
    plain = episode(gym.make("CartPole-v1"))[1]
    divided = run("divide_rewards", "sb3", env=gym.make("CartPole-v1"), divisor=10.0)["env"]
    assert episode(divided)[1] == pytest.approx(plain / 10)


def test_actions_are_rescaled_to_one() -> None:
    env = run("rescale_actions", "sb3", env=gym.make("Pendulum-v1"))["env"]
    assert (float(env.action_space.low[0]), float(env.action_space.high[0])) == (-1.0, 1.0)


def test_potential_based_shaping_telescopes() -> None:
    shaped = run("potential_shaping", "sb3")["Shaped"]
    potential = lambda observation: float(observation[2])  # noqa: E731
    gamma, rewards, plain = 0.9, [], []
    env, same = shaped(gym.make("Pendulum-v1"), potential, gamma), gym.make("Pendulum-v1")
    start = potential(env.reset(seed=0)[0])
    same.reset(seed=0)
    for _ in range(20):
        observation, reward, *_ = env.step([0.5])
        rewards.append(reward)
        plain.append(same.step([0.5])[1])
    discounts = gamma ** np.arange(20)
    difference = float((discounts * (np.array(rewards) - np.array(plain))).sum())
    assert difference == pytest.approx(gamma**20 * potential(observation) - start)


def test_the_normaliser_travels_to_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env, eval_env = (gym.wrappers.NormalizeObservation(gym.make("CartPole-v1")) for _ in range(2))
    episode(env)
    run("save_normaliser", "cleanrl", env=env, eval_env=eval_env)
    assert np.allclose(env.obs_rms.mean, eval_env.obs_rms.mean)
    episode(eval_env)
    assert np.allclose(env.obs_rms.mean, eval_env.obs_rms.mean)


def test_looking_at_an_environment_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run("action_effect", "sb3", env=gym.make("Pendulum-v1"))
    assert "changes the next observation: True" in capsys.readouterr().out
    run("compare_policies", "sb3", env=gym.make("CartPole-v1"))
    assert "random:" in capsys.readouterr().out
    names = run("own_seeds", "cleanrl", make_env=lambda: gym.make("CartPole-v1"), n_envs=3, seed=1)
    assert len(np.unique(names["observations"], axis=0)) == 3


def test_the_snippets_for_stable_baselines_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    env = run("record_returns", "sb3", env=gym.make("Pendulum-v1"))["env"]
    vec = sb3.common.vec_env.DummyVecEnv([lambda: env])
    assert run("scale_rewards", "sb3", env=vec, gamma=0.98)["env"].gamma == 0.98
    for name in ("frame_stack", "normalise_observations", "find_nan"):
        vec = run(name, "sb3", env=vec)["env"]
    torch.autograd.set_detect_anomaly(False)
    noise = run("action_noise", "sb3", env=env)["action_noise"]
    small = {"net_arch": [8, 8]}
    model = sb3.SAC("MlpPolicy", vec, learning_starts=10, policy_kwargs=small, action_noise=noise, device="cpu")
    run("spectral_norm_critic", "sb3", model=model)
    model.learn(30)
    run("resume", "sb3", model=model)
    assert {path.name for path in tmp_path.iterdir()} == {"model.zip", "replay_buffer.pkl"}
    layer = model.critic.q_networks[0][0]
    largest = float(torch.linalg.matrix_norm(layer.weight.detach(), 2))
    assert largest == pytest.approx(1.0, abs=0.3)
    kept = model.critic_target.q_networks[0][0].parametrizations.weight[0]._u
    assert torch.allclose(kept, layer.parametrizations.weight[0]._u, atol=0.2)
