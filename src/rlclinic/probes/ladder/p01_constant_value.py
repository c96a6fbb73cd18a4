"""Constant value: one step, reward 1, the end.

What it does: The observation is always 0, any action pays 1 and the episode terminates.
Right answer: V = Q = 1.
Wrong answers: 3.33 = 1/(1 - gamma): the done mask is missing or the two done flags are swapped. 0.769 = 1/(2 -
gamma): the extra row of next-step autoreset is learned. The untrained value: no update reaches the critic.
Isolates: value loss, optimiser, done mask.
References: Jones (2021); ProbeEnv1 of the five-probe suite.
"""

from __future__ import annotations

from rlclinic.probes.answers import value_questions
from rlclinic.probes.definition import Case, Given, Probe, Query
from rlclinic.probes.world import chain

TOLERANCE = 0.1
"""Less than half of the gap 0.23 to the extra row."""
WORLD = chain(((0.0,), 1.0))


def questions(given: Given) -> tuple[Query, ...]:
    """V of the only state."""
    return value_questions(given, {"V": ((1.0, (0.0,)),)}, ("done-ignored", "fake-autoreset-row"), TOLERANCE)


PROBE = Probe(
    code="P1",
    name="constant-value",
    title="the critic learns a constant reward",
    components=("value loss", "optimiser", "done mask"),
    after=("S0b",),
    cases=(Case("value", WORLD, questions, {"on-policy": 1600, "off-policy": 1200}, methods=("value|q",)),),
    documentation=__doc__,
    alias="ProbeEnv1",
    preflight=True,
)
