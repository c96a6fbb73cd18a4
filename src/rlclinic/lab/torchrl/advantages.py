"""Advantages and value targets of a rollout, per environment along time."""

from __future__ import annotations

from typing import Any

import torch
from tensordict import TensorDictBase
from torchrl.objectives.value.functional import vec_generalized_advantage_estimate


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
    advantage, target = vec_generalized_advantage_estimate(
        gamma, trace, now, later, after["reward"], done=after["done"], terminated=after["terminated"]
    )
    rollout.set("state_value", now)
    rollout.set("advantage", advantage)
    rollout.set("value_target", target)
