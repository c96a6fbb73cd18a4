"""Target update: one Polyak step.

What it does: All online parameters are set to 1 and all target parameters to 0; one target update is made.
Right answer: the target parameters equal tau, and share no storage with the online ones.
Wrong answers: 1: a hard update, or the target is the online network. 1 - tau: tau is swapped. 0: never updated.
Isolates: target update.
References: SB3 1.0 changelog (shared features); rlevo#182; AgileRL#464.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.ladder.p03_discount import WORLD

TAU = 0.05


def contract(trainer: Any, _: Given) -> Mapping[str, float]:
    """The slope of the update, and whether storage is shared."""
    found = trainer.targets()
    return {"slope": float(found["slope"]), "shared": float(found.get("shared", 0.0))}


def questions(_: Given) -> tuple[Query, ...]:
    """The slope is tau."""
    wrong = (Wrong(1.0, "target-aliased"), Wrong(1 - TAU, "tau-swapped"), Wrong(0.0, "target-stuck"))
    return (
        Query("slope", "contract", TAU, 0.01, wrong, key="slope"),
        Query("shared storage", "contract", 0.0, 0.1, (Wrong(1.0, "target-aliased"),), key="shared"),
    )


PROBE = Probe(
    code="S0d",
    name="target-update",
    title="the target network follows at the rate tau",
    components=("target update",),
    after=(),
    cases=(
        Case(
            "static", WORLD, questions, {"off-policy": 0}, needs={"tau": TAU}, methods=("targets",), contract=contract
        ),
    ),
    documentation=__doc__,
    preflight=True,
    exact=True,
)
