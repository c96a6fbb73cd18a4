"""Reward scale: the same chain in other units.

What it does: The chain of P3 with rewards ten times as large and a tenth as large, the large one also with rewards that
the trainer normalises, and two arms that pay 1 and 3.
Right answer: V(0) in units of the scale is gamma; the logged return is the raw one; the arm that pays 3 is chosen.
Wrong answers: the scale squared: scaled twice. The same value at every scale: the scale is lost. An even policy on
the arms: rewards are clipped to +-1. A logged return in normalised units: the logger sits behind the normaliser.
Isolates: reward scale, reward clipping, units of logs.
References: Ajax, reward scale (70000 logged for 7).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rlclinic.probes.definition import Case, Given, Hints, Probe, Query, Wrong
from rlclinic.probes.world import TWO_ARMS, State, World, chain

FIRST, SECOND, SEEN = (-1.0,), (1.0,), (0.0,)
PAYS = (1.0, 3.0)
LARGE = 10.0
SCALES = {"large": LARGE, "small": 0.1}
"""A hundredth drowns in the step size of Adam, so a tenth is the small one."""
NORMALISER = 5.0
"""Deviation of the running return, which is 0 and 10 in turn."""


def _scaled(scale: float) -> World:
    return chain((FIRST, 0.0), (SECOND, scale))


def _arm(action: Any) -> float:
    return PAYS[action]


ARMS = World({"only": State(SEEN, _arm)}, ((1.0, "only"),), TWO_ARMS)


def _value(scale: float) -> Any:
    def questions(given: Given) -> tuple[Query, ...]:
        """V of the first step in units of the scale."""
        lost = Wrong(given.gamma / scale, "reward-scale-lost")
        clipped = ["reward-sign", "reward-clipped"] if scale > 1 else ["reward-sign"]
        wrong = (Wrong(given.gamma * scale, "reward-scaled-twice"), lost, *(replace(lost, fault=f) for f in clipped))
        return (Query("V(0)", "value", given.gamma, 0.15, wrong, ((1.0, FIRST),), unit=scale),)

    return questions


def logged_questions(_: Given) -> tuple[Query, ...]:
    """The return as the trainer logs it, in raw units."""
    wrong = (Wrong(1.0, "log-in-normalised-units"),)
    return (Query("logged", "logged", LARGE, 1.0, wrong, key="return"),)


def normalised_questions(given: Given) -> tuple[Query, ...]:
    """V and the logged return in raw units although the networks learn normalised ones."""
    kept = Wrong(given.gamma / NORMALISER, "reward-scale-lost")
    behind = Wrong(LARGE / NORMALISER, "log-in-normalised-units")
    return (
        Query("V(0)", "value", given.gamma, 0.15, (kept,), ((1.0, FIRST),), unit=LARGE),
        Query("logged", "logged", LARGE, 1.0, (behind,), key="return"),
    )


def arm_questions(given: Given) -> tuple[Query, ...]:
    """The probability of the arm that pays 3."""
    wrong = (Wrong(0.5, "reward-clipped"), Wrong(0.0, "advantage-reversed"))
    return (Query("pi(3)", "probability", 1.0, 0.15, wrong, ((1.0, SEEN),), action=1),)


HINTS: dict[str, Hints] = {
    "large": {"on-policy": {"learning_rate": 1e-2}, "off-policy": {"learning_rate": 1e-2}},
    "small": {"on-policy": {"learning_rate": 2e-3}, "off-policy": {"learning_rate": 2e-3}},
}
PROBE = Probe(
    code="P11",
    name="reward-scale",
    title="values and logs are in the units of the reward",
    components=("reward scale", "reward clipping", "units of logs"),
    after=("P3", "P5"),
    cases=(
        *(
            Case(
                name,
                _scaled(scale),
                _value(scale),
                {"on-policy": 4480, "off-policy": 3000},
                hints=HINTS[name],
                methods=("value|q",),
            )
            for name, scale in SCALES.items()
        ),
        Case(
            "normalised",
            _scaled(LARGE),
            normalised_questions,
            {"on-policy": 4480, "off-policy": 3000},
            needs={"normalize_rewards": True},
            methods=("value|q", "logged"),
        ),
        Case("logged", _scaled(LARGE), logged_questions, {"on-policy": 640, "off-policy": 400}, methods=("logged",)),
        Case(
            "arms",
            ARMS,
            arm_questions,
            {"on-policy": 2560, "off-policy": 1500},
            actions="discrete",
            hints={"on-policy": {"learning_rate": 1e-2}},
        ),
    ),
    documentation=__doc__,
)
