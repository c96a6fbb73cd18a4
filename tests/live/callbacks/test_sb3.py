"""The callback of Stable-Baselines3 measures what the library does not log, and changes nothing."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sb3 = pytest.importorskip("stable_baselines3")

import gymnasium  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.logger import configure  # noqa: E402
from stable_baselines3.common.torch_layers import FlattenExtractor  # noqa: E402

from rlclinic.live.callbacks import sb3 as module  # noqa: E402
from rlclinic.live.callbacks.sb3 import ClinicCallback  # noqa: E402
from tests.live.conftest import Remembers  # noqa: E402

TRAININGS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "PPO": ("CartPole-v1", 512, {"n_steps": 128, "n_epochs": 2}),
    "A2C": ("Pendulum-v1", 200, {}),
    "DQN": ("CartPole-v1", 400, {"learning_starts": 50}),
    "SAC": ("Pendulum-v1", 140, {"learning_starts": 100}),
    "TD3": ("Pendulum-v1", 140, {"learning_starts": 100}),
}


@pytest.fixture(autouse=True)
def _measure_at_every_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr(module, "SHARE", 1e9)


def trained(algorithm: str, callback: BaseCallback | None) -> Any:
    environment, steps, options = TRAININGS[algorithm]
    model = getattr(sb3, algorithm)("MlpPolicy", environment, seed=3, device="cpu", **options)
    return model.learn(steps, callback=callback)


def random_states() -> tuple[Any, ...]:
    return torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()


@pytest.mark.parametrize(
    "algorithm", [pytest.param(name, marks=pytest.mark.slow) if name in ("SAC", "TD3") else name for name in TRAININGS]
)
def test_training_is_the_same_bit_for_bit(algorithm: str) -> None:
    callback = ClinicCallback(sinks=[], share=0.3)
    with_it, drawn = trained(algorithm, callback), random_states()
    without = trained(algorithm, None)
    assert drawn == random_states()
    assert callback.monitor.record.points > 20
    assert callback.monitor.guard.off == {}
    ours, theirs = with_it.policy.state_dict(), without.policy.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    assert not any(parameter._post_accumulate_grad_hooks for parameter in with_it.policy.parameters())


@pytest.mark.parametrize(
    ("algorithm", "metrics"),
    [
        ("PPO", {"explained_variance", "entropy", "advantage/mean", "advantage/std", "advantage/abs_max"}),
        ("PPO", {"grad_norm/actor", "grad_norm/critic", "approx_kl", "policy_churn", "log_prob/mean", "entropy_share"}),
        ("PPO", {"dead_units", "effective_rank"}),
        ("A2C", {"action_std/min", "action_std/mean", "advantage/abs_max", "grad_norm/actor", "entropy", "approx_kl"}),
        ("DQN", {"q/mean", "q/max", "grad_norm/critic", "epsilon", "dead_units", "policy_churn", "update_to_data"}),
        ("SAC", {"q/mean", "q/spread", "action_std/min", "grad_norm/actor", "grad_norm/critic", "alpha", "dead_units"}),
        ("SAC", {"entropy", "log_prob/mean", "log_prob/std", "effective_rank"}),
        ("TD3", {"q/mean", "q1/mean", "q2/mean", "q/spread", "grad_norm/actor", "grad_norm/critic", "effective_rank"}),
    ],
)  # fmt: skip
def test_what_frameworks_do_not_log_is_measured(algorithm: str, metrics: set[str]) -> None:
    callback = ClinicCallback(sinks=[], share=1e-9)
    trained(algorithm, callback)
    run = callback.monitor.record.run()
    assert metrics <= set(run.series), metrics - set(run.series)
    assert (run.framework, run.algorithm, run.environment) == ("sb3", algorithm, TRAININGS[algorithm][0])
    assert run.budget == TRAININGS[algorithm][1]
    assert run.config.number("gamma") == 0.99
    shares = {"time/environment_share", "time/inference_share", "time/learning_share"}
    assert {*shares, "system/memory_mb"} <= set(run.series)


def test_a_row_without_a_rollout_of_its_own_tells_no_kl() -> None:
    """Against an older rollout it would be that of several updates."""
    callback = ClinicCallback(sinks=[], share=1e-9)
    trained("A2C", callback)
    assert "approx_kl" in callback.monitor.record.run().series
    assert "train/opt/policy/approx_kl" not in callback._measures.take()


class Dropped(FlattenExtractor):
    """Features of a network that draws numbers and learns from every batch that it sees."""

    def __init__(self, space: Any) -> None:
        super().__init__(space)
        self.layers = torch.nn.Sequential(torch.nn.BatchNorm1d(self.features_dim), torch.nn.Dropout(0.2))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.layers(super().forward(observations))


@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_networks_with_dropout_train_the_same_also_when_training_goes_on(algorithm: str) -> None:
    environment, _, options = TRAININGS[algorithm]
    states = []
    for callback in (ClinicCallback(sinks=[], share=0.3), None):
        kind = {"features_extractor_class": Dropped}
        model = getattr(sb3, algorithm)("MlpPolicy", environment, seed=3, policy_kwargs=kind, device="cpu", **options)
        for _ in range(2):
            model.learn(256, callback=callback, reset_num_timesteps=False)
        states.append(model.policy.state_dict())
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[1])


@pytest.mark.parametrize(
    ("space", "most"),
    [
        (gymnasium.spaces.Discrete(4), math.log(4)),
        (gymnasium.spaces.MultiDiscrete([2, 3]), math.log(6)),
        (gymnasium.spaces.MultiBinary(3), math.log(8)),
        (gymnasium.spaces.Box(-1, 1), 0.0),
    ],
)
def test_a_uniform_policy_has_the_greatest_entropy(space: Any, most: float) -> None:
    assert module._greatest_entropy(space) == pytest.approx(most)


class Slow(gymnasium.Wrapper):
    """Takes its time, and tells the parts of its reward."""

    def step(self, action: Any) -> Any:
        time.sleep(0.003)
        *taken, info = self.env.step(action)
        return *taken, {**info, "reward_alive": 0.75, "reward_goal[m]": 0.25}


class SlowFeatures(FlattenExtractor):
    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        time.sleep(0.003 if len(observations) == 1 else 0.0)
        return super().forward(observations)


@pytest.mark.parametrize(("slow", "words"), [("environment", "bound by its environment"), ("policy", "by inference")])
def test_what_holds_a_training_up_is_told_and_parts_of_the_reward_are_followed(slow: str, words: str) -> None:
    env = gymnasium.make("CartPole-v1")
    options = {"policy_kwargs": {"features_extractor_class": SlowFeatures}} if slow == "policy" else {}
    model = sb3.PPO("MlpPolicy", Slow(env) if slow == "environment" else env, n_steps=64, n_epochs=1, **options)
    callback = ClinicCallback(sinks=[], share=1e-9)
    model.learn(192, callback=callback)
    assert words in callback.monitor.bottleneck
    assert not model.policy._forward_hooks
    parts = {name: one.last for name, one in callback.monitor.record.run().series.items() if name.startswith("reward/")}
    assert parts == ({"reward/alive": 0.75, "reward/goal[m]": 0.25} if slow == "environment" else {})


def test_what_is_measured_goes_to_tensorboard_under_the_names_of_dashboards(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from rlclinic.readers.formats.tensorboard.tfevents import read_events

    class Logs(BaseCallback):
        def _on_training_start(self) -> None:
            self.model.set_logger(configure(str(tmp_path), ["tensorboard", "csv"]))

        def _on_step(self) -> bool:
            return True

    model = sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=64, n_epochs=1, seed=0, device="cpu")
    model.learn(256, callback=[Logs(), ClinicCallback(sinks=[], share=1e-9)])
    model.logger.close()
    events = read_events(next(tmp_path.glob("*tfevents*")).read_bytes())
    wanted = {"diagnostics/explained_variance", "diagnostics/advantage_abs_max", "gradients/actor_grad_norm"}
    assert wanted <= set(events.scalars)
    assert "diagnostics" not in (tmp_path / "progress.csv").read_text(), "the user's own table keeps its columns"


class Poison(BaseCallback):
    """Makes the weights of the Q network useless; the library trains on."""

    def _on_step(self) -> bool:
        if self.num_timesteps == 200:
            with torch.no_grad():
                next(self.model.policy.q_net.parameters()).fill_(math.nan)
        return True


def test_a_broken_run_is_stopped_on_request_and_leaves_a_checkpoint(tmp_path: Path, remembers: Remembers) -> None:
    path = tmp_path / "stopped.zip"
    callback = ClinicCallback(sinks=[remembers], on_error="stop", checkpoint=path)
    model = sb3.DQN("MlpPolicy", "CartPole-v1", seed=0, device="cpu", learning_starts=50, buffer_size=2_000)
    model.learn(20_000, callback=[Poison(), callback])
    assert 200 < model.num_timesteps < 1_000
    assert [alert.key for alert in remembers.alerts][:1] == ["not-finite"]
    assert sb3.DQN.load(path).num_timesteps == model.num_timesteps


def test_an_exception_in_the_callback_never_reaches_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_episodes", lambda _: 1 / 0)
    callback = ClinicCallback(sinks=[])
    assert trained("PPO", callback).num_timesteps == 512
    assert list(callback.monitor.guard.off) == ["the callback"]


def test_a_callback_can_be_saved_with_nothing_of_it_in_the_model(tmp_path: Path) -> None:
    model = trained("PPO", ClinicCallback(sinks=[]))
    model.save(tmp_path / "model.zip")
    loaded = sb3.PPO.load(tmp_path / "model.zip")
    observation = np.zeros((1, 4), dtype=np.float32)
    assert loaded.predict(observation, deterministic=True)[0] == model.predict(observation, deterministic=True)[0]
