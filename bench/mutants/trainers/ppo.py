"""Proximal policy optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn import functional

from .on_policy import ROLLOUT, Batch, OnPolicy


class PPO(OnPolicy):
    """Clipped ratios over several passes."""

    defaults: Mapping[str, Any] = {**ROLLOUT, "n_epochs": 8, "clip_range": 0.2, "clip_range_value": None}

    def update(self, batch: Batch) -> None:
        """Several shuffled passes over the rollout."""
        for _ in range(self.settings["n_epochs"]):
            for part in self.minibatches(batch):
                self.learn(part)

    def policy_loss(self, batch: Batch, advantages: torch.Tensor) -> torch.Tensor:
        """The clipped surrogate."""
        new = self.log_prob_of(batch["observations"], batch["actions"])
        ratio = torch.exp(new - batch["log_probs"])
        reach = self.settings["clip_range"]
        clipped = ratio.clamp(1 - reach, 1 + reach)
        return -torch.min(ratio * advantages, clipped * advantages).mean()

    def value_loss(self, batch: Batch) -> torch.Tensor:
        """Squared distance from the returns, clipped where that is asked for."""
        reach = self.settings["clip_range_value"]
        if reach is None:
            return super().value_loss(batch)
        values = self.critic(batch["observations"]).squeeze(-1)
        near = batch["values"] + (values - batch["values"]).clamp(-reach, reach)
        return functional.mse_loss(near, batch["returns"])
