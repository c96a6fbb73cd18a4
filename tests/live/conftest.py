"""Rows of simulated runs, and a sink that remembers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from rlclinic.live.alerts import Alert
from rlclinic.live.sinks.base import Sink

BUDGET = 100_000


class Remembers(Sink):
    """Keeps what it is sent."""

    name = "remembers"

    def __init__(self) -> None:
        self.alerts: list[Alert] = []

    def send(self, alerts: Sequence[Alert]) -> None:
        self.alerts += alerts


def rows(count: int = 40, *, explodes_from: int = 10**9) -> Iterator[tuple[dict[str, float], int]]:
    """A PPO run that learns; from some row on its gradients grow tenfold a row, and what it learned is lost."""
    rng = np.random.default_rng(0)
    for row in range(1, count + 1):
        share = row / count
        since = max(row - explodes_from, 0)
        growth = 10.0 ** min(since, 12)
        yield (
            {
                "rollout/ep_rew_mean": max(20 + 300 * share - 80 * since, 9) + rng.normal(0, 4),
                "train/approx_kl": 0.01 + rng.normal(0, 0.001),
                "train/clip_fraction": 0.1 + rng.normal(0, 0.01),
                "train/entropy_loss": -0.69 + 0.3 * share,
                "train/explained_variance": 0.9 * share,
                "train/value_loss": 10.0 + rng.normal(0, 0.5),
                "grad_norm": growth * (0.4 + rng.normal(0, 0.02)),
            },
            row * BUDGET // count,
        )


@pytest.fixture
def remembers() -> Remembers:
    return Remembers()
