"""Gradient flow: each loss reaches its own parameters and no others.

What it does: The gradient of the policy loss alone and of the value loss alone is measured on the parameters of the
actor, of the critic and of what they share.
Right answer: policy loss: actor yes, critic no. Value loss: critic yes, actor no.
Wrong answers: no gradient: no_grad, a detach too many, parameters left out. A gradient where none belongs: a detach
missing.
Isolates: gradient flow.
References: snake-hrl-torchrl (surrogate under no_grad).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.ladder.p02_observation_value import WORLD

SAMPLES = 32
VANISHING = 1e-10
OWN = {"policy": "actor", "value": "critic"}


def contract(trainer: Any, _: Given) -> Mapping[str, float]:
    """Per loss 1 where a gradient arrives: on its own parameters (or the shared ones), and on the other's."""
    rng = np.random.default_rng(0)
    batch = {
        "observations": rng.choice([-1.0, 1.0], size=(SAMPLES, 1)),
        "advantages": rng.normal(size=SAMPLES),
        "returns": rng.normal(size=SAMPLES),
    }
    found = trainer.losses(batch)
    readings: dict[str, float] = {}
    for term, own in OWN.items():
        other = "critic" if own == "actor" else "actor"
        norms = found.get(term)
        if norms is None:
            continue
        reaches = max(float(norms.get(own, 0.0)), float(norms.get("shared", 0.0)))
        readings[f"{term}-reaches"] = float(reaches > VANISHING)
        readings[f"{term}-leaks"] = float(float(norms.get(other, 0.0)) > VANISHING)
    return readings


def questions(_: Given) -> tuple[Query, ...]:
    """Reach and leak of both losses."""
    reach = (Wrong(0.0, "gradient-blocked"),)
    leak = (Wrong(1.0, "gradient-leaks"),)
    return tuple(
        item
        for term in OWN
        for item in (
            Query(f"{term} loss reaches the {OWN[term]}", "contract", 1.0, 0.1, reach, key=f"{term}-reaches"),
            Query(f"{term} loss leaks", "contract", 0.0, 0.1, leak, key=f"{term}-leaks"),
        )
    )


PROBE = Probe(
    code="S0c",
    name="gradient-flow",
    title="each loss trains its own network",
    components=("gradient flow",),
    after=(),
    cases=(
        Case("static", WORLD, questions, {"on-policy": 0, "off-policy": 0}, methods=("losses",), contract=contract),
    ),
    documentation=__doc__,
    preflight=True,
    exact=True,
)
