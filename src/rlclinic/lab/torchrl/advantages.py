"""Advantages and value targets of a rollout, per environment along time."""

from __future__ import annotations

from typing import Any

import torch
from tensordict import TensorDictBase
from torchrl.objectives.value.functional import generalized_advantage_estimate, vec_generalized_advantage_estimate

# Product of discount and trace below which the vectorised estimate has no terms left to sum, and fails.
SHORTEST = 1e-3


@torch.no_grad()
def add_advantages(rollout: TensorDictBase, critic: Any, gamma: float, trace: float) -> None:
    """Write state_value, advantage and value_target into a rollout of [environments, time].

    Must run before the rollout is flattened: traces would leak from one environment into the next. An end of any
    kind cuts the trace; only a termination makes the value after it zero, a truncation is bootstrapped. Without a
    critic all values are zero, and a trace of 1 gives the discounted rewards to go.
    """
    after = rollout["next"]
    if critic is None:
        now = later = torch.zeros_like(after["reward"])
    else:
        now, later = critic.module(rollout["observation"]), critic.module(after["observation"])
    estimate = vec_generalized_advantage_estimate if gamma * trace > SHORTEST else generalized_advantage_estimate
    advantage, target = estimate(
        gamma, trace, now, later, after["reward"], done=after["done"], terminated=after["terminated"]
    )
    rollout.set("state_value", now)
    rollout.set("advantage", advantage)
    rollout.set("value_target", target)
