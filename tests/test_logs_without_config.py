"""Failures that people report, as ordinary logs show them: no config, no algorithm, a few columns of a home-made file.

Each log has one cause; what may be said of it is what a reader who knows the field would say. One that is wrong must
not be told for sure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from rlclinic.engine import diagnose
from rlclinic.model.series import FloatArray
from rlclinic.readers.open import read

POINTS = 300
T = np.linspace(0.0, 1.0, POINTS)
SURE = 0.5

Columns = Mapping[str, FloatArray]
Log = tuple[str, str]


def _noise(size: float) -> FloatArray:
    return np.random.default_rng(7).normal(0.0, size, POINTS)


def flat(level: float, noise: float = 0.0) -> FloatArray:
    return level + _noise(noise)


def rise(start: float, end: float, noise: float, pace: float = 5.0) -> FloatArray:
    return start + (end - start) * (1.0 - np.exp(-pace * T)) + _noise(noise)


def fall(start: float, best: float, end: float, noise: float) -> FloatArray:
    down = np.maximum(end, best + (end - best) * (T - 0.4) / 0.2)
    return np.where(T < 0.4, start + (best - start) * T / 0.4, down) + _noise(noise)


def lasted() -> FloatArray:
    """Episodes of an untrained policy on CartPole."""
    return np.maximum(9.0, np.random.default_rng(3).exponential(12.0, POINTS) + 9.0).round()


def csv(columns: Columns) -> Log:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(map(repr, map(float, ((at + 1) * 1000, *row)))) for at, row in enumerate(rows)]
    return "progress.csv", "\n".join([",".join(["step", *columns]), *lines, ""])


def jsonl(columns: Columns) -> Log:
    rows = zip(*columns.values(), strict=True)
    lines = [
        json.dumps({"step": at + 1, **dict(zip(columns, map(float, row), strict=True))}) for at, row in enumerate(rows)
    ]
    return "metrics.jsonl", "\n".join([*lines, ""])


def console(score: FloatArray, epsilon: FloatArray, loss: FloatArray) -> Log:
    lines = [
        f"Episode {at + 1}\tScore: {score[at]:.2f}\tEpsilon: {epsilon[at]:.3f}\tLoss: {loss[at]:.5g}"
        for at in range(POINTS)
    ]
    return "train.log", "\n".join([*lines, ""])


def died(*last: str) -> Log:
    lines = [f"Episode {at}\tScore: {20 + at:.1f}" for at in range(60)]
    head = ["Traceback (most recent call last):", '  File "a.py", line 3, in <module>']
    return "train.log", "\n".join([*lines, *head, *last, ""])


def monitor(environment: str, returns: FloatArray, lengths: FloatArray) -> Log:
    head = f'#{{"t_start": 1700000000.0, "env_id": "{environment}"}}\nr,l,t\n'
    pairs = enumerate(zip(returns, lengths, strict=True))
    return "monitor.csv", head + "".join(f"{a:.8g},{int(b)},{at * 0.5:.2f}\n" for at, (a, b) in pairs)


NO_STEP = {"learning-rate-too-low", "gradient-clipping-too-tight", "trust-region-too-strong", "parameters-not-trained"}
TOO_FAST = {"learning-rate-too-high", "gradient-explosion", "q-overestimation", "target-network-too-fast"}
LOGS: Mapping[str, tuple[Callable[[], Log], set[str]]] = {
    "epsilon never falls": (
        lambda: console(flat(-150, 60), flat(1), np.abs(flat(3, 0.4))), {"exploration-never-ends"}),
    "the loss of a DQN explodes": (
        lambda: console(fall(20, 120, 10, 8), 0.01 + 0.99 * np.exp(-6 * T), np.exp(12 * T)), TOO_FAST),
    "every score is zero": (
        lambda: console(flat(0), 0.05 + 0.95 * np.exp(-5 * T), np.abs(flat(1e-3, 2e-4))),
        {"sparse-reward", "uninformative-reward"}),
    "Q explodes": (
        lambda: csv({"episode_reward": fall(20, 120, 15, 8), "q_mean": np.exp(14 * T), "td_loss": np.exp(18 * T - 4)}),
        TOO_FAST),
    "losses become NaN": (
        lambda: csv({"mean_reward": np.where(T < 0.5, 20 + 100 * T, 20) + _noise(3),
                     "policy_loss": np.where(T < 0.5, 0.01, np.nan)}), {"numerical-failure", *TOO_FAST}),
    "entropy stays at its maximum and KL at nothing": (
        lambda: csv({"ep_rew_mean": flat(20, 2), "entropy": 1.386 - np.abs(flat(0, 5e-4)), "approx_kl": flat(1e-7),
                     "clip_fraction": flat(0)}), {"entropy-bonus-too-high", *NO_STEP}),
    "KL is nothing": (
        lambda: csv({"ep_rew_mean": flat(20, 2), "approx_kl": 1e-8 + np.abs(flat(0, 1e-9)), "clip_fraction": flat(0)}),
        NO_STEP),
    "KL is huge and the return collapses": (
        lambda: csv({"ep_rew_mean": fall(20, 150, 20, 6), "approx_kl": np.abs(flat(0.4, 0.1)),
                     "clip_fraction": flat(0.6, 0.05)}),
        {"learning-rate-too-high", "too-many-epochs", "clip-range-too-loose"}),
    "gradients explode": (
        lambda: csv({"ep_rew_mean": fall(20, 150, 20, 6), "grad_norm": np.exp(14 * T)}), TOO_FAST),
    "the gradient is exactly zero": (
        lambda: csv({"ep_rew_mean": flat(30, 5), "grad_norm": flat(0), "policy_loss": flat(0.02)}),
        {"dead-network", "parameters-not-trained", "implementation-bug"}),
    "losses are exactly zero": (
        lambda: csv({"ep_rew_mean": flat(20, 2), "policy_loss": flat(0), "value_loss": flat(0)}),
        {"parameters-not-trained", "implementation-bug", "metric-misreported"}),
    "the learning rate is soon zero": (
        lambda: csv({"ep_rew_mean": rise(20, 60, 3, 25), "learning_rate": 3e-4 * np.maximum(0, 1 - 12 * T)}),
        {"learning-rate-schedule-wrong"}),
    "returns are huge and the critic explains nothing": (
        lambda: csv({"ep_rew_mean": flat(-2e5, 4e4), "value_loss": flat(5e9, 1e9),
                     "explained_variance": flat(0, 0.02)}),
        {"reward-scale-too-large", "value-underfit"}),
    "the critic is worse than a constant": (
        lambda: csv({"ep_rew_mean": flat(30, 5), "explained_variance": flat(-0.8, 0.2), "value_loss": flat(500, 60)}),
        {"value-underfit", "reward-scale-too-large", "observations-unnormalised"}),
    "alpha explodes": (
        lambda: jsonl({"episode_return": flat(-300, 30), "alpha": np.exp(16 * T), "critic_loss": np.exp(20 * T)}),
        {"temperature-wrong"}),
    "the action spread grows": (
        lambda: csv({"ep_rew_mean": fall(-200, 100, -250, 20), "std": np.exp(4 * T)}),
        {"action-std-explosion", "entropy-bonus-too-high"}),
    "the task was made harder": (
        lambda: csv({"ep_rew_mean": np.where(T < 0.5, 200 * T, 20) + _noise(4),
                     "curriculum_level": np.where(T < 0.5, 1.0, 5.0)}), {"nonstationary-task", "curriculum-wrong"}),
    "training rises and evaluations do not": (
        lambda: csv({"train/episode_reward": rise(0, 100, 4), "eval/episode_reward": flat(0, 4)}),
        {"evaluation-mismatch", "normaliser-statistics-wrong", "evaluation-stale"}),
    "success is never seen": (
        lambda: csv({"ep_rew_mean": rise(0, 40, 2, 6), "success_rate": flat(0)}),
        {"reward-hacking", "sparse-reward", "reward-component-dominates", "task-too-hard"}),
    "MountainCar never gets up": (
        lambda: monitor("MountainCar-v0", flat(-200), flat(200)), {"sparse-reward", "task-too-hard"}),
    "CartPole pays a thousandfold": (
        lambda: monitor("CartPole-v1", 1000 * lasted(), lasted()), {"reward-scale-too-large"}),
    "CartPole pays a millionth": (
        lambda: monitor("CartPole-v1", 1e-6 * lasted(), lasted()), {"reward-scale-too-small"}),
    "CartPole pays with the other sign": (
        lambda: monitor("CartPole-v1", -lasted(), lasted()), {"reward-sign-wrong"}),
    "CartPole always ends at once": (
        lambda: monitor("CartPole-v1", flat(5), flat(5)), {"termination-too-early"}),
    "CartPole never ends, untrained": (
        lambda: monitor("CartPole-v1", flat(500), flat(500)), {"episode-never-ends", "already-solved"}),
    "Pendulum pays a thousandfold": (
        lambda: monitor("Pendulum-v1", 1000 * flat(-1200, 250), flat(200)), {"reward-scale-too-large"}),
    "Pendulum pays a millionth": (
        lambda: monitor("Pendulum-v1", 1e-6 * flat(-1200, 250), flat(200)), {"reward-scale-too-small"}),
    "Pendulum pays with the other sign": (
        lambda: monitor("Pendulum-v1", flat(1200, 250), flat(200)), {"reward-sign-wrong"}),
    "LunarLander pays nothing": (
        lambda: monitor("LunarLander-v2", flat(0), 4 * lasted()), {"uninformative-reward", "sparse-reward"}),
    "groups without variance": (
        lambda: jsonl({"reward": np.abs(flat(0.01, 0.005)), "reward_std": flat(0), "frac_reward_zero_std": flat(0.98),
                       "completion_length": flat(200, 10), "kl": np.abs(flat(1e-3, 3e-4))}),
        {"zero-variance-groups", "sparse-reward"}),
    "responses are cut": (
        lambda: jsonl({"reward": flat(0.05, 0.02), "reward_std": flat(0.1, 0.02), "kl": np.abs(flat(0.01, 2e-3)),
                       "completions/mean_length": 512 - np.abs(flat(0, 2)),
                       "completions/clipped_ratio": flat(0.97, 0.01)}), {"responses-truncated"}),
    "the policy leaves its reference": (
        lambda: jsonl({"reward": np.where(T < 0.5, 0.2 + 0.8 * T, 1 - 0.8 * T) + _noise(0.03),
                       "kl": 0.01 * np.exp(9 * T), "reward_std": flat(0.2, 0.02), "completion_length": flat(200, 10)}),
        {"kl-penalty-too-weak", "learning-rate-too-high"}),
    "memory ran out": (lambda: died("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"), {"out-of-memory"}),
    "the code raised": (lambda: died("KeyError: 'obs'"), {"exception"}),
}  # fmt: skip


@pytest.mark.parametrize("name", LOGS)
def test_what_an_ordinary_log_shows_is_among_the_first_causes(name: str, tmp_path: Path) -> None:
    make, accepted = LOGS[name]
    file, text = make()
    (tmp_path / file).write_text(text, encoding="utf-8")
    causes = diagnose(read(tmp_path)).causes
    assert any(cause.id in accepted for cause in causes[:3]), [(cause.id, cause.probability) for cause in causes]
    assert causes[0].id in accepted or causes[0].probability < SURE or causes[0].id == "unknown"
