"""REINFORCE with a learned baseline: whole returns, several passes of the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .on_policy import ROLLOUT, Batch, OnPolicy


class REINFORCE(OnPolicy):
    """The policy learns once per rollout, the baseline several times."""

    defaults: Mapping[str, Any] = {
        **{name: value for name, value in ROLLOUT.items() if name not in ("gae_lambda", "value_coefficient")},
        "n_epochs": 8,
    }

    def build(self) -> None:
        """Losses are weighted alike; the optimiser is shared."""
        self.settings["value_coefficient"] = 1.0
        super().build()

    def estimate(self, rewards: Any, values: Any, next_values: Any, terminated: Any, truncated: Any) -> Any:
        """Return to go minus baseline; a cut-off episode goes on with its value."""
        going, to_go = next_values[-1], np.zeros_like(rewards)
        ended = np.maximum(terminated, truncated)
        for step in reversed(range(len(rewards))):
            going = np.where(ended[step] > 0, (1 - terminated[step]) * next_values[step], going)
            going = rewards[step] + self.gamma * going
            to_go[step] = going
        return to_go - values

    def update(self, batch: Batch) -> None:
        """One joint step, then further passes of the baseline alone."""
        self.learn(batch)
        for _ in range(self.settings["n_epochs"] - 1):
            self.stepper.descend(self.value_loss(batch))
