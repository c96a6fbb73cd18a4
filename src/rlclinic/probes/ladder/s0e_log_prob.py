"""Log-probability: a density integrates to 1.

What it does: exp(log-prob) is integrated over the action box in one and in two dimensions (over a wider box where the
density lives outside too).
Right answer: 1.
Wrong answers: anything else: the Jacobian of the squashing is missing, dimensions are averaged instead of summed, or
the bounds are wrong.
Isolates: squashing Jacobian, sum over dimensions.
References: SB3 1.0 changelog (sum over action dimensions); mesozoic-labs#408.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.world import UNIT_BOX, Actions, State, World

SEEN = (0.5,)
POINTS = {1: 4001, 2: 301}
"""Grid points per dimension; midpoints avoid the edges, where a squashed density may be infinite."""
WIDE = 8.0
"""Half width that holds an unsquashed Gaussian of unit deviation."""
TOLERANCE = 0.05


def _world(actions: Actions) -> World:
    return World({"only": State(SEEN, 1.0)}, ((1.0, "only"),), actions)


def _contract(dimensions: int) -> Callable[[Any, Given], Mapping[str, float]]:
    def contract(trainer: Any, _: Given) -> Mapping[str, float]:
        """The integral over the unit box, or over a wide one where the density is positive outside."""
        outside = np.full((1, dimensions), 1.5)
        density = float(np.exp(np.asarray(trainer.log_prob(np.asarray(SEEN, np.float32), outside))).reshape(-1)[0])
        half = WIDE if np.isfinite(density) and density > 0 else 1.0
        count = POINTS[dimensions]
        width = 2 * half / count
        line = -half + width * (np.arange(count) + 0.5)
        grid = np.stack(np.meshgrid(*[line] * dimensions), axis=-1).reshape(-1, dimensions)
        logs = np.asarray(trainer.log_prob(np.asarray(SEEN, np.float32), grid), dtype=np.float64).reshape(-1)
        if logs.size != len(grid):
            raise ValueError(f"log_prob returned {logs.size} numbers for {len(grid)} actions")
        return {"integral": float(np.exp(logs).sum() * width**dimensions)}

    return contract


def _questions(fault: str) -> Callable[[Given], tuple[Query, ...]]:
    return lambda _: (Query("integral", "contract", 1.0, TOLERANCE, (Wrong(2.0, fault),), key="integral"),)


PLANE = Actions("box", low=(-1.0, -1.0), high=(1.0, 1.0))
PROBE = Probe(
    code="S0e",
    name="log-prob",
    title="the policy's density integrates to one",
    components=("squashing Jacobian", "sum over dimensions"),
    after=(),
    cases=(
        Case(
            "line",
            _world(UNIT_BOX),
            _questions("jacobian-missing"),
            {"on-policy": 0, "off-policy": 0},
            actions="box",
            methods=("log_prob",),
            contract=_contract(1),
        ),
        Case(
            "plane",
            _world(PLANE),
            _questions("log-prob-not-summed"),
            {"on-policy": 0, "off-policy": 0},
            actions="box",
            methods=("log_prob",),
            contract=_contract(2),
        ),
    ),
    documentation=__doc__,
    preflight=True,
    exact=True,
)
