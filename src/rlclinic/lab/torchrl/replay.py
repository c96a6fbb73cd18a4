"""A ring of transitions that fits into an npz."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict

from rlclinic.lab.torchrl.spaces import Floats, Spaces
from rlclinic.lab.torchrl.vector_env import Transition

FIELDS = ("observation", "action", "after", "reward", "terminated", "done")


class Replay:
    """The newest transitions, sampled uniformly. Observations are kept raw: the normaliser may still change."""

    def __init__(self, capacity: int, spaces: Spaces) -> None:
        action = ((), np.int64) if spaces.is_discrete else ((spaces.action_size,), np.float32)
        size = (spaces.observation_size,)
        kinds: dict[str, tuple[tuple[int, ...], type]] = {
            "observation": (size, np.float32),
            "action": action,
            "after": (size, np.float32),
            "reward": ((), np.float32),
            "terminated": ((), np.bool_),
            "done": ((), np.bool_),
        }
        # Pages of an empty array are only taken from the system when they are written.
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.empty((capacity, *shape), dtype=kind) for name, (shape, kind) in kinds.items()
        }
        self._capacity = capacity
        self._next = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, observation: Floats, action: NDArray[Any], step: Transition, reward: Floats) -> None:
        """One transition per environment, with the reward that is learned from."""
        values = (observation, action, step.after, reward, step.terminated, step.done)
        at = (self._next + np.arange(len(observation))) % self._capacity
        for name, value in zip(FIELDS, values, strict=True):
            self._arrays[name][at] = value
        self._next = int(self._next + len(observation)) % self._capacity
        self._size = min(self._size + len(observation), self._capacity)

    def sample(self, count: int, normalise: Any) -> TensorDict:
        """A batch, observations as the networks take them."""
        at = torch.randint(self._size, (count,)).numpy()
        part = {name: array[at] for name, array in self._arrays.items()}
        return TensorDict(
            {
                "observation": torch.from_numpy(normalise(part["observation"])),
                "action": torch.from_numpy(part["action"]),
                "next": {
                    "observation": torch.from_numpy(normalise(part["after"])),
                    "reward": torch.from_numpy(part["reward"]).unsqueeze(-1),
                    "terminated": torch.from_numpy(part["terminated"]).unsqueeze(-1),
                    "done": torch.from_numpy(part["done"]).unsqueeze(-1),
                },
            },
            batch_size=[count],
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What it holds, for an npz."""
        held = {name: array[: self._size] for name, array in self._arrays.items()}
        return {**held, "next": np.asarray(self._next)}

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Hold what `to_arrays` gave."""
        self._size = len(arrays["reward"])
        self._next = int(arrays["next"])
        for name in FIELDS:
            self._arrays[name][: self._size] = arrays[name]
