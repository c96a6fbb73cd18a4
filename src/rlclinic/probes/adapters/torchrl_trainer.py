"""What every TorchRL trainer offers to a probe: its log, its normaliser, and how a raw observation becomes a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import torch

from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.torchrl.normaliser import EPSILON, Normaliser
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.lab.torchrl.vector_env import VectorEnv
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.protocol import Observation

ROUNDING = 1e-6
"""Gradient norms below this are float32 rounding; those of a loss that flows are above 1e-3."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """What a trainer is made of beside its networks."""

    options: Options
    spaces: Spaces
    row: VectorEnv
    log: EpisodeLog


class TorchRLTrainer:
    """Counts steps and normalises as the lab's trainers do."""

    def __init__(self, parts: Parts) -> None:
        options, spaces = parts.options, parts.spaces
        self.options, self.spaces, self.row, self._log = options, spaces, parts.row, parts.log
        self.normaliser = Normaliser(
            spaces.observation_size,
            len(parts.row),
            options.number("gamma"),
            observations=options.flag("normalize_obs"),
            rewards=options.flag("normalize_reward"),
        )
        self.steps = 0

    def network_input(self, obs: Observation) -> Any:
        """The observation as the networks take it."""
        return self.rows(obs)[0]

    def logged(self) -> Mapping[str, float]:
        """Means over the episodes that the lab logs, and the step counter."""
        columns = self._log.take()
        names = {"return": "train/roll/ep_rew/mean", "length": "train/roll/ep_len/mean"}
        found = {name: columns[column] for name, column in names.items() if column in columns}
        return {**found, "env_steps": float(self.steps), "episodes": columns["train/cnt/total_episodes"]}

    def rows(self, observations: Any) -> Any:
        """Raw observations, one or many, as rows for the networks."""
        raw = np.asarray(observations, np.float32).reshape(-1, self.spaces.observation_size)
        return self.normaliser.observation(raw)

    def reward_unit(self) -> float:
        """What a normalised reward must be multiplied by."""
        variance = self.normaliser.to_arrays().get("returns_variance")
        return 1.0 if variance is None else float(np.sqrt(variance + EPSILON)[0])


def norm_of(gradients: Iterable[Any]) -> float:
    """Norm of all gradients together; parameters without one count as zero."""
    total = sum(float(gradient.square().sum()) for gradient in gradients if gradient is not None) ** 0.5
    return float(total) if total > ROUNDING else 0.0


def tensor(values: Any) -> Any:
    """Numbers as float32."""
    return torch.as_tensor(np.asarray(values, np.float32))
