"""Observation value: the reward is the observation.

What it does: The observation is +1 or -1, drawn anew each time; the reward equals it; one step. The final observation
is drawn anew too.
Right answer: V(+1) = +1, V(-1) = -1.
Wrong answers: 0 for both: the observation does not reach the value (a frozen feature extractor), a loss of shape (B,
1) against (B) is broadcast, or observations are stored one step off. Half of it: the extra row of next-step
autoreset.
Isolates: backprop, pairing of observation and reward, broadcasting.
References: Jones (2021); ProbeEnv2; RLinf#1568 (broadcast loss).
"""

from __future__ import annotations

from rlclinic.probes.answers import value_questions
from rlclinic.probes.definition import Case, Given, Probe, Query
from rlclinic.probes.world import State, World

TOLERANCE = 0.2
"""Less than half of the gap 0.5 to the extra row."""
EITHER = ((0.5, (1.0,)), (0.5, (-1.0,)))
WORLD = World(
    {"plus": State((1.0,), 1.0, finally_shows=EITHER), "minus": State((-1.0,), -1.0, finally_shows=EITHER)},
    ((0.5, "plus"), (0.5, "minus")),
)


def questions(given: Given) -> tuple[Query, ...]:
    """V of both observations."""
    read = {"V(+1)": ((1.0, (1.0,)),), "V(-1)": ((1.0, (-1.0,)),)}
    faults = ("broadcast-value-loss", "observation-shifted", "reward-one-step-late", "fake-autoreset-row")
    return value_questions(given, read, faults, TOLERANCE)


PROBE = Probe(
    code="P2",
    name="observation-value",
    title="the critic learns a reward that the observation tells",
    components=("backprop", "pairing of observation and reward", "broadcasting"),
    after=("P1",),
    cases=(Case("value", WORLD, questions, {"on-policy": 1920, "off-policy": 1500}, methods=("value|q",)),),
    documentation=__doc__,
    alias="ProbeEnv2",
    preflight=True,
)
