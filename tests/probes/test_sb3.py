"""SB3's own algorithms behind the protocol, right and broken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer

from rlclinic.model.errors import UsageError
from rlclinic.probes import probe
from rlclinic.probes.load import load_trainer
from rlclinic.probes.portrait import draw_portrait

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class GammaIgnored(PPO):  # type: ignore[misc]
    """Keeps its default gamma whatever is set."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "gamma": 0.99})


class DoneIgnoredBuffer(RolloutBuffer):  # type: ignore[misc]
    """Never learns that an episode ended."""

    def add(self, obs: Any, action: Any, reward: Any, episode_start: Any, value: Any, log_prob: Any) -> None:
        super().add(obs, action, reward, np.zeros_like(episode_start), value, log_prob)

    def compute_returns_and_advantage(self, last_values: Any, dones: Any) -> None:
        super().compute_returns_and_advantage(last_values, np.zeros_like(dones))


class DoneIgnored(PPO):  # type: ignore[misc]
    """PPO with that buffer."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, rollout_buffer_class=DoneIgnoredBuffer, **settings)


class SignBuffer(RolloutBuffer):  # type: ignore[misc]
    """Negates advantages after the returns are made."""

    def compute_returns_and_advantage(self, last_values: Any, dones: Any) -> None:
        super().compute_returns_and_advantage(last_values, dones)
        self.advantages = -self.advantages


class SignFlipped(PPO):  # type: ignore[misc]
    """PPO with that buffer."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, rollout_buffer_class=SignBuffer, **settings)


def test_stock_ppo_passes_contracts_and_first_probes() -> None:
    report = probe("sb3:PPO", "S0", "P1", preflight=True, processes=0)
    assert not report.failed
    assert {"S0a", "S0b", "S0c", "S0e", "S0f", "S0g", "P1"} == {result.code for result in report.judged}


@pytest.mark.parametrize(
    ("algorithm", "names", "component"),
    [
        (GammaIgnored, ("S0b", "P3"), "gamma"),
        (DoneIgnored, ("S0b", "P1"), "done mask"),
        (SignFlipped, ("S0b", "P5.arms"), "advantage sign"),
    ],
)
def test_a_broken_ppo_is_caught_with_its_component(algorithm: Any, names: tuple[str, ...], component: str) -> None:
    report = probe(algorithm, *names, preflight=True, processes=0)
    assert {result.verdict for result in report.results if names[-1].startswith(result.code)} <= {"fail", "skipped"}
    assert report.suspicions[0].component == component, report.suspicions


@pytest.mark.parametrize("name", ["DQN", "SAC", "TD3"])
def test_target_networks_follow_at_the_rate_tau(name: str) -> None:
    report = probe(f"sb3:{name}", "S0d", processes=0)
    assert [result.verdict for result in report.results] == ["pass"]


@pytest.mark.parametrize(
    ("name", "family", "actions"),
    [
        ("A2C", "on-policy", ("discrete", "box", "multi")), ("TRPO", "on-policy", ("discrete", "box", "multi")),
        ("QRDQN", "off-policy", ("discrete",)), ("TQC", "off-policy", ("box",)),
    ],
)  # fmt: skip
def test_each_algorithm_is_known_for_what_it_can_do(name: str, family: str, actions: tuple[str, ...]) -> None:
    portrait = draw_portrait(load_trainer(f"sb3:{name}"))
    assert (portrait.family, portrait.actions, portrait.problem) == (family, actions, "")


def test_an_unknown_algorithm_is_refused() -> None:
    with pytest.raises(UsageError, match="no algorithm 'Nothing'"):
        load_trainer("sb3:Nothing")
