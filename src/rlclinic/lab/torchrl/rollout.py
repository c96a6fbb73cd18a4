"""Collect experience of the current policy as a tensordict of [environments, time]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tensordict import TensorDict

from rlclinic.lab.torchrl.distances import Tensor
from rlclinic.lab.torchrl.normaliser import Normaliser
from rlclinic.lab.torchrl.policy_step import sample
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.lab.torchrl.vector_env import VectorEnv

StepTaken = Callable[[int], bool]
"""Told the number of env steps just taken; False asks to stop."""


class Collector:
    """Steps the environments of a run with an actor."""

    def __init__(self, envs: VectorEnv, actor: Any, spaces: Spaces, normaliser: Normaliser) -> None:
        self._envs = envs
        self._actor = actor
        self._spaces = spaces
        self._normaliser = normaliser
        normaliser.see(envs.now)

    def collect(self, steps: int, taken: StepTaken, *, whole_episodes: bool) -> TensorDict | None:
        """`steps` per environment; None where it was asked to stop.

        With whole episodes an environment goes on to the end of the episode that the last step fell in, and then
        rests: dropping unfinished episodes would favour short ones, cutting them would need a value function. Rows
        of resting environments are marked false in `mask`.
        """
        envs, count = self._envs, len(self._envs)
        active = list(range(count))
        moments: list[dict[str, Tensor]] = []
        while active:
            seen = self._normaliser.observation(envs.now[active])
            chosen = sample(self._actor, self._spaces, seen)
            step = envs.step(chosen.action.numpy(), active)
            self._normaliser.see(envs.now[active])
            moment = {
                "observation": torch.from_numpy(seen),
                "after": torch.from_numpy(self._normaliser.observation(step.after)),
                "reward": torch.from_numpy(self._normaliser.reward(step.reward, step.done, active)).unsqueeze(-1),
                "terminated": torch.from_numpy(step.terminated).unsqueeze(-1),
                "done": torch.from_numpy(step.done).unsqueeze(-1),
                "action": chosen.action,
                "action_log_prob": chosen.log_prob,
                **chosen.parameters,
            }
            moments.append(moment if len(active) == count else _spread(moment, active, count))
            if not taken(len(active)):
                return None
            if len(moments) >= steps:
                active = [at for at, done in zip(active, step.done, strict=True) if whole_episodes and not done]
        return _joined(moments)


def _spread(moment: dict[str, Tensor], active: list[int], count: int) -> dict[str, Tensor]:
    """Rows of the active environments in a batch of all; those that rest look like an ended episode without reward."""
    whole = {key: value.new_zeros((count, *value.shape[1:])) for key, value in moment.items()}
    whole["terminated"].fill_(True)
    whole["done"].fill_(True)
    whole["mask"] = torch.zeros(count, dtype=torch.bool)
    for key, value in moment.items():
        whole[key][active] = value
    whole["mask"][active] = True
    return whole


def _joined(moments: list[dict[str, Tensor]]) -> TensorDict:
    count, time = len(moments[0]["reward"]), len(moments)
    everyone = torch.ones(count, dtype=torch.bool)
    joined = {key: torch.stack([moment[key] for moment in moments], dim=1) for key in moments[0]}
    return TensorDict(
        {
            "observation": joined["observation"],
            "action": joined["action"],
            "action_log_prob": joined["action_log_prob"],
            "behaviour": {key: joined[key] for key in ("logits", "loc", "scale") if key in joined},
            "mask": torch.stack([moment.get("mask", everyone) for moment in moments], dim=1),
            "next": {
                "observation": joined["after"],
                "reward": joined["reward"],
                "terminated": joined["terminated"],
                "done": joined["done"],
            },
        },
        batch_size=[count, time],
    )
