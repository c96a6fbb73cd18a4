"""Ratio identity: before any update the policy has not changed.

What it does: Actions are sampled and their log-probabilities stored as in a rollout, then recomputed as in the
update.
Right answer: |log ratio| below 1e-4 everywhere.
Wrong answers: anything else: the action is sampled anew, a shape is squeezed, or the stored log-probability is of
another action.
Isolates: old log-prob.
References: snake-hrl-torchrl (re-sampled action); ray#65036 (arctanh of a clamped action).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.ladder.p02_observation_value import WORLD

TOLERANCE = 1e-4
"""Recomputing through float32 atanh costs about 6e-6."""
SAMPLES = 64


def contract(trainer: Any, _: Given) -> Mapping[str, float]:
    """The largest log ratio."""
    observations = np.random.default_rng(0).choice([-1.0, 1.0], size=(SAMPLES, 1))
    ratios = np.asarray(trainer.log_ratio({"observations": observations}), dtype=np.float64).reshape(-1)
    # A ratio per pair of samples is a shape error, and as wrong as a large ratio.
    size = float(np.abs(ratios).max()) if ratios.size == SAMPLES else 1.0
    return {"ratio": size}


def questions(_: Given) -> tuple[Query, ...]:
    """It must vanish."""
    return (Query("log ratio", "contract", 0.0, TOLERANCE, (Wrong(1.0, "old-log-prob-wrong"),), key="ratio"),)


PROBE = Probe(
    code="S0a",
    name="ratio-identity",
    title="the ratio is 1 before the first update",
    components=("old log-prob",),
    after=(),
    cases=(Case("static", WORLD, questions, {"on-policy": 0}, methods=("log_ratio",), contract=contract),),
    documentation=__doc__,
    preflight=True,
    exact=True,
)
