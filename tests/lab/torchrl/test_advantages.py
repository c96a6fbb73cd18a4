"""Advantages along time, per environment, with the two kinds of ends kept apart."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tensordict import TensorDict
from torch import nn
from torchrl.modules import ValueOperator

from rlclinic.lab.torchrl.advantages import add_advantages

GAMMA, TRACE = 0.9, 0.8


class FirstNumber(nn.Module):
    """The value of a state is its first number."""

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        return observation[..., :1]


def critic() -> Any:
    return ValueOperator(FirstNumber(), in_keys=["observation"])


def rollout(values: list[list[float]], after: list[list[float]], rewards: list[list[float]]) -> TensorDict:
    count, time = len(values), len(values[0])
    no = torch.zeros(count, time, 1, dtype=torch.bool)
    return TensorDict(
        {
            "observation": torch.tensor(values).unsqueeze(-1),
            "next": {
                "observation": torch.tensor(after).unsqueeze(-1),
                "reward": torch.tensor(rewards).unsqueeze(-1),
                "terminated": no.clone(),
                "done": no.clone(),
            },
        },
        [count, time],
    )


def by_hand(batch: TensorDict, row: int) -> list[float]:
    after = batch["next"]
    carried, found = 0.0, []
    for at in reversed(range(batch.shape[1])):
        terminated, done = bool(after["terminated"][row, at]), bool(after["done"][row, at])
        later = 0.0 if terminated else float(after["observation"][row, at])
        error = float(after["reward"][row, at]) + GAMMA * later - float(batch["observation"][row, at])
        carried = error + (0.0 if done else GAMMA * TRACE * carried)
        found.append(carried)
    return found[::-1]


def two_by_three() -> TensorDict:
    return rollout(
        [[0.5, -0.2, 0.3], [1.5, 2.0, -1.0]], [[-0.2, 0.3, 0.7], [2.0, -1.0, 0.4]], [[0.1, 1.0, -0.5], [2.0, 0.3, 1.0]]
    )


def test_two_environments_of_three_steps_do_not_leak_into_each_other() -> None:
    batch = two_by_three()
    add_advantages(batch, critic(), GAMMA, TRACE)
    for row in range(2):
        assert batch["advantage"][row, :, 0].tolist() == pytest.approx(by_hand(batch, row), abs=1e-6)
    flat = two_by_three().reshape(-1)
    add_advantages(flat, critic(), GAMMA, TRACE)
    assert flat["advantage"][:3, 0].tolist() != pytest.approx(by_hand(batch, 0), abs=0.1)


@pytest.mark.parametrize("terminated", [True, False])
def test_a_termination_ends_the_value_and_a_truncation_is_bootstrapped(*, terminated: bool) -> None:
    batch = two_by_three()
    batch["next", "done"][0, 1] = True
    batch["next", "terminated"][0, 1] = terminated
    add_advantages(batch, critic(), GAMMA, TRACE)
    for row in range(2):
        assert batch["advantage"][row, :, 0].tolist() == pytest.approx(by_hand(batch, row), abs=1e-6)
    later = 0.0 if terminated else GAMMA * 0.3
    assert float(batch["advantage"][0, 1]) == pytest.approx(1.0 + later + 0.2, abs=1e-6)


def test_targets_are_values_plus_advantages() -> None:
    batch = two_by_three()
    add_advantages(batch, critic(), GAMMA, TRACE)
    assert torch.allclose(batch["value_target"], batch["advantage"] + batch["state_value"], atol=1e-6)


def test_without_a_critic_a_full_trace_gives_the_rewards_to_go() -> None:
    batch = two_by_three()
    batch["next", "done"][0, 1] = True
    add_advantages(batch, None, GAMMA, 1.0)
    assert batch["advantage"][0, :, 0].tolist() == pytest.approx([0.1 + GAMMA * 1.0, 1.0, -0.5])
    assert batch["advantage"][1, 0, 0].item() == pytest.approx(2.0 + GAMMA * (0.3 + GAMMA * 1.0))


@pytest.mark.parametrize(("gamma", "trace"), [(0.0, 0.95), (0.99, 0.0), (1e-300, 1.0)])
def test_without_a_trace_the_advantage_is_the_error_of_one_step(gamma: float, trace: float) -> None:
    batch = two_by_three()
    add_advantages(batch, critic(), gamma, trace)
    after = batch["next"]
    expected = after["reward"] + gamma * after["observation"] - batch["observation"]
    assert torch.allclose(batch["advantage"], expected)
