"""The shared numbers of the table of causes are fitted to evidence, not to noise."""

from __future__ import annotations

import numpy as np
from bench.calibrate.fit import KINDS, Sample, start, weight_of_noise


def _samples(count: int) -> list[Sample]:
    """The first of three causes is right, and one kind of evidence says so."""
    pieces = np.zeros((3, len(KINDS)))
    pieces[0, 0] = 3.0
    right = np.array([1.0, 0.0, 0.0])
    causes = ("unknown", "sparse-reward", "noisy-reward")
    return [Sample(f"group {n}", True, 1.0, False, causes, np.zeros(3), pieces, right) for n in range(count)]


def test_a_column_of_random_evidence_gets_next_to_no_weight() -> None:
    weights = [weight_of_noise(_samples(60), start(), 10.0, seed) for seed in range(4)]
    assert max(map(abs, weights)) < 0.3


def test_a_column_that_tells_the_right_cause_would_get_one(monkeypatch: object) -> None:
    class Telling:
        def standard_normal(self, size: int) -> np.ndarray:
            return np.array([2.0, 0.0, 0.0])[:size]

    import bench.calibrate.fit as fit

    monkeypatch.setattr(fit.np.random, "default_rng", lambda seed: Telling())  # type: ignore[attr-defined]
    assert weight_of_noise(_samples(60), start(), 1.0, 0) > 0.3
