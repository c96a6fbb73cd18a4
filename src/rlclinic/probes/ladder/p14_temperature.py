"""Temperature: alpha settles where the entropy is the target.

What it does: Two arms pay 1 and 0 with an automatic temperature and a target entropy of 0.5 nats; a continuous action
pays minus eight times its square with a target entropy of -0.5 nats.
Right answer: discrete: the better arm with probability 0.800, alpha = 0.720. Continuous: the alpha at which a
tanh-Gaussian of that entropy is the best trade, by quadrature.
Wrong answers: alpha towards 0 or without bound: the sign of the temperature loss. alpha at its initial value: never
updated.
Another alpha: the target entropy has the wrong sign or units.
Isolates: temperature loss sign, target entropy.
References: Haarnoja et al. (2018b); ALF#1557.
"""

from __future__ import annotations

from typing import Any

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.soft import bandit_temperature, parabola_temperature
from rlclinic.probes.world import TWO_ARMS, UNIT_BOX, State, World

SEEN = (0.0,)
PAYS = (0.0, 1.0)
TARGET_DISCRETE, TARGET_CONTINUOUS = 0.5, -0.5
START = 1.0
"""SAC starts its temperature at 1."""
VANISHED, RUNAWAY = 0.0, 5.0
STEEPNESS = 8.0
"""Puts alpha at 0.35, well away from 0 and from its start."""


def _arm(action: Any) -> float:
    return PAYS[action]


def _parabola(action: Any) -> float:
    return -STEEPNESS * float(action[0] ** 2)


ARMS = World({"only": State(SEEN, _arm)}, ((1.0, "only"),), TWO_ARMS)
HILL = World({"only": State(SEEN, _parabola)}, ((1.0, "only"),), UNIT_BOX)


def arm_questions(_: Given) -> tuple[Query, ...]:
    """The probability of the better arm, and alpha."""
    best, alpha = bandit_temperature(TARGET_DISCRETE)
    wrong_pi = (Wrong(0.5, "temperature-sign-flipped"), Wrong(1.0, "target-entropy-wrong"))
    wrong_alpha = (Wrong(VANISHED, "target-entropy-wrong"), Wrong(RUNAWAY, "temperature-sign-flipped"))
    return (
        Query("pi(best)", "probability", best, 0.09, wrong_pi, ((1.0, SEEN),), action=1),
        Query("alpha", "temperature", alpha, 0.13, (*wrong_alpha, Wrong(START, "temperature-frozen"))),
    )


def hill_questions(_: Given) -> tuple[Query, ...]:
    """alpha on the parabola."""
    truth = STEEPNESS * parabola_temperature(TARGET_CONTINUOUS)
    wrong = (
        Wrong(START, "temperature-frozen"),
        Wrong(STEEPNESS * parabola_temperature(-TARGET_CONTINUOUS), "target-entropy-wrong"),
        Wrong(VANISHED, "temperature-sign-flipped"),
    )
    gap = min(abs(item.value - truth) for item in wrong)
    return (Query("alpha", "temperature", truth, 0.45 * gap, wrong),)


PROBE = Probe(
    code="P14",
    name="temperature",
    title="the automatic temperature finds its target",
    components=("temperature loss", "target entropy"),
    after=("P13",),
    cases=(
        Case(
            "arms",
            ARMS,
            arm_questions,
            {"off-policy": 10_000},
            actions="discrete",
            needs={"temperature": "auto", "target_entropy": TARGET_DISCRETE},
            methods=("temperature", "action_probabilities"),
        ),
        Case(
            "hill",
            HILL,
            hill_questions,
            {"off-policy": 6000},
            actions="box",
            needs={"temperature": "auto", "target_entropy": TARGET_CONTINUOUS},
            methods=("temperature",),
        ),
    ),
    documentation=__doc__,
)
