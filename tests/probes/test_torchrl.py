"""TorchRL's losses inside the lab's learners, behind the protocol."""

from __future__ import annotations

import pytest

pytest.importorskip("torchrl")

from rlclinic.model.errors import UsageError
from rlclinic.probes import probe
from rlclinic.probes.load import load_trainer
from rlclinic.probes.portrait import draw_portrait
from tests.probes.one_seed import one_seed

ACTOR_CRITIC = {"value", "action_probabilities", "log_prob", "log_ratio", "advantages", "losses", "logged"}


@pytest.mark.parametrize(
    ("name", "family", "actions", "methods"),
    [
        ("PPO", "on-policy", ("discrete", "box"), ACTOR_CRITIC),
        ("MM-RKHS", "on-policy", ("discrete", "box"), ACTOR_CRITIC),
        ("REINFORCE", "on-policy", ("discrete", "box"), ACTOR_CRITIC),
        ("SAC", "off-policy", ("discrete", "box"), {"q", "temperature", "targets", "losses", "action_probabilities"}),
        ("DQN", "off-policy", ("discrete",), {"q", "targets", "losses", "logged"}),
    ],
)
def test_each_algorithm_is_known_for_what_it_can_do(
    name: str, family: str, actions: tuple[str, ...], methods: set[str]
) -> None:
    portrait = draw_portrait(load_trainer(f"torchrl:{name}"))
    assert (portrait.family, portrait.actions, portrait.problem) == (family, actions, "")
    assert methods <= set(portrait.methods)


@pytest.mark.parametrize(
    ("name", "contracts"),
    [
        ("PPO", {"S0a", "S0b", "S0c", "S0e", "S0f", "S0g"}),
        ("MM-RKHS", {"S0a", "S0b", "S0c", "S0e", "S0f", "S0g"}),
        ("REINFORCE", {"S0a", "S0c", "S0e", "S0f", "S0g"}),
        ("SAC", {"S0c", "S0d", "S0e", "S0g"}),
        ("DQN", {"S0c", "S0d", "S0g"}),
    ],
)
def test_static_contracts_hold(name: str, contracts: set[str]) -> None:
    report = probe(f"torchrl:{name}", "S0", preflight=True, processes=0)
    assert not report.failed
    assert {result.code for result in report.judged} == contracts


@pytest.mark.parametrize("code", ["P1", "P2", "P3"])
def test_ppo_learns_the_values_of_the_first_probes(code: str) -> None:
    result = one_seed(load_trainer("torchrl:PPO"), code)
    assert result.passed, result


def test_an_algorithm_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no algorithm 'TD3'"):
        load_trainer("torchrl:TD3")


@pytest.mark.parametrize("name", ["mmrkhs", "mm-rkhs", "MM-RKHS"])
def test_an_algorithm_is_found_however_it_is_spelt(name: str) -> None:
    assert load_trainer(f"torchrl:{name}").algorithm == "MM-RKHS"
