"""SB3's own algorithms behind the protocol, right and broken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.buffers import RolloutBuffer

from rlclinic.model.errors import UsageError
from rlclinic.probes import probe
from rlclinic.probes.adapters.sb3 import SB3Factory
from rlclinic.probes.load import load_trainer
from rlclinic.probes.portrait import draw_portrait
from tests.probes.one_seed import one_seed

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


def test_stock_ppo_keeps_its_contracts_and_learns_a_constant() -> None:
    report = probe("sb3:PPO", "S0", processes=0)
    assert not report.failed
    assert {"S0a", "S0b", "S0c", "S0e", "S0f", "S0g"} == {result.code for result in report.judged}
    assert one_seed(SB3Factory(PPO), "P1").passed


@pytest.mark.parametrize(("algorithm", "component"), [(GammaIgnored, "gamma"), (SignFlipped, "advantage sign")])
def test_a_broken_ppo_is_caught_with_its_component(algorithm: Any, component: str) -> None:
    report = probe(algorithm, "S0b", processes=0)
    assert [result.verdict for result in report.results] == ["fail"]
    assert report.suspicions[0].component == component, report.suspicions


def test_an_ignored_done_flag_shows_in_a_contract_and_in_training() -> None:
    assert [result.verdict for result in probe(DoneIgnored, "S0b", processes=0).results] == ["fail"]
    assert one_seed(SB3Factory(DoneIgnored), "P1").readings["V"] == pytest.approx(1 / (1 - 0.7), abs=0.3)


@pytest.mark.parametrize("name", ["DQN", "SAC", "TD3"])
def test_off_policy_contracts_hold(name: str) -> None:
    report = probe(f"sb3:{name}", "S0c", "S0d", processes=0)
    assert [result.verdict for result in report.results] == ["pass", "pass"]


class FrozenActor(SAC):  # type: ignore[misc]
    """Trains its actor with an optimiser that holds nothing of it."""

    def _setup_model(self) -> None:
        super()._setup_model()
        self.actor.optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=1e-3)


def test_an_actor_that_no_optimiser_holds_is_caught() -> None:
    report = probe(FrozenActor, "S0c", processes=0)
    assert [result.verdict for result in report.results] == ["fail"]
    assert report.suspicions[0].component == "gradient flow"


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


def test_an_algorithm_is_found_in_small_letters() -> None:
    assert load_trainer("sb3:ppo").algorithm is load_trainer("sb3:PPO").algorithm
