"""Truncation twin: the same step ends once by time limit and once for good.

What it does: An episode starts at A or B, pays 1 and ends after one step. A is truncated and its final observation is
A; B terminates. In a second world B pays nothing and leads to A, which ends by both at once.
Right answer: V(A) = 1/(1 - gamma) = 3.33, V(B) = 1; V(A) = 1 where both coincide.
Wrong answers: (1, 1): truncation is treated as termination. (1, 3.33): the flags are swapped. (3.33, 3.33):
terminations are ignored. V(A) = 2.08: the reset observation is bootstrapped instead of the final one. V(A) = 3.33 where
both coincide: the time limit hides the termination.
Isolates: time-limit bootstrapping, flag order.
References: Pardo et al. (2018); skrl#363 and #449; spinningup#233; FastTD3; rlevo#531.
"""

from __future__ import annotations

from rlclinic.probes.answers import value_questions
from rlclinic.probes.definition import Case, Given, Probe, Query
from rlclinic.probes.world import State, World

TOLERANCE = 0.4
"""Less than half of the gap 1.26 to the reset observation."""
A, B = (1.0,), (-1.0,)
WORLD = World({"A": State(A, 1.0, ends_by="truncated"), "B": State(B, 1.0)}, ((0.5, "A"), (0.5, "B")))
BOTH = World({"B": State(B, 0.0, ((1.0, "A"),)), "A": State(A, 1.0, ends_by="both")}, ((1.0, "B"),))


def questions(given: Given) -> tuple[Query, ...]:
    """V of the twins."""
    faults = (
        "truncation-as-termination", "flags-swapped", "done-ignored", "reset-observation-bootstrap",
        "fake-autoreset-row", "broadcast-value-loss",
    )  # fmt: skip
    return value_questions(given, {"V(A)": ((1.0, A),), "V(B)": ((1.0, B),)}, faults, TOLERANCE)


def both_questions(given: Given) -> tuple[Query, ...]:
    """V of a step that terminates at the time limit."""
    return value_questions(given, {"V(A)": ((1.0, A),)}, ("termination-lost-at-limit",), TOLERANCE)


PROBE = Probe(
    code="P8",
    name="truncation-twin",
    title="a time limit is not an end",
    components=("time-limit bootstrapping", "flag order"),
    after=("P3",),
    cases=(
        Case("value", WORLD, questions, {"on-policy": 4480, "off-policy": 3000}, methods=("value|q",)),
        Case("both", BOTH, both_questions, {"on-policy": 2560, "off-policy": 2000}, methods=("value|q",)),
    ),
    documentation=__doc__,
    preflight=True,
)
