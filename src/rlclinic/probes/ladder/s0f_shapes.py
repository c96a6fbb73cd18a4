"""Shapes: a value loss that compares each value with its own target.

What it does: The critic's own values are handed back as targets, so every error is zero.
Right answer: value loss 0.
Wrong answers: the spread of the values: a (B, 1) against (B) comparison, which broadcasts to all pairs.
Isolates: broadcasting.
References: RLinf#1568; Packt DRL#6 and #33; DeepRL_Algorithms#13.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlclinic.probes.definition import CannotJudge, Case, Given, Probe, Query, Wrong
from rlclinic.probes.ladder.p02_observation_value import WORLD

SAMPLES = 33


def contract(trainer: Any, _: Given) -> Mapping[str, float]:
    """The value loss in units of the spread of the values."""
    observations = np.linspace(-3.0, 3.0, SAMPLES).reshape(-1, 1)
    values = np.array([float(np.asarray(trainer.value(row)).reshape(-1)[0]) for row in observations.astype(np.float32)])
    spread = float(values.var())
    if spread < 1e-12:
        raise CannotJudge("the untrained critic gives the same value everywhere")
    batch = {"observations": observations, "advantages": np.zeros(SAMPLES), "returns": values}
    return {"loss": float(trainer.losses(batch)["value"]["value"]) / spread}


def questions(_: Given) -> tuple[Query, ...]:
    """It must vanish."""
    wrong = (Wrong(1.0, "broadcast-value-loss"), Wrong(2.0, "broadcast-value-loss"))
    return (Query("value loss", "contract", 0.0, 0.02, wrong, key="loss"),)


PROBE = Probe(
    code="S0f",
    name="shapes",
    title="a perfect critic has no loss",
    components=("broadcasting",),
    after=(),
    cases=(Case("static", WORLD, questions, {"on-policy": 0}, methods=("losses", "value"), contract=contract),),
    documentation=__doc__,
    preflight=True,
    exact=True,
)
