"""Max chain: three arms at the end of a corridor.

What it does: State 0 leads to state 1, where three arms pay 0, 0.5 and 1.
Right answer: Q(1, a) = (0, 0.5, 1); Q(0, .) = gamma; the greedy action at state 1 is arm 2.
Wrong answers: Q(0, .) = gamma / 2: the bootstrap takes the mean instead of the maximum. Permuted Q: an index of
gather or argmax is off. For policies: another arm.
Isolates: max bootstrap, action index, double-Q selection.
References: Ajax, three-action chain.
"""

from __future__ import annotations

from typing import Any

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.world import Actions, State, World

PAYS = (0.0, 0.5, 1.0)
FIRST, SECOND = (-1.0,), (1.0,)
TOLERANCE = 0.15
PERMUTED = "action-index-permuted"


def _arm(action: Any) -> float:
    return PAYS[action]


WORLD = World(
    {"0": State(FIRST, 0.0, ((1.0, "1"),)), "1": State(SECOND, _arm)}, ((1.0, "0"),), Actions("discrete", (3,))
)


def q_questions(given: Given) -> tuple[Query, ...]:
    """Q of every arm at the end, and of the corridor."""
    arms = tuple(
        Query(
            f"Q(1,{arm})", "q", pays, TOLERANCE, (Wrong(PAYS[(arm + 1) % 3], PERMUTED),), ((1.0, SECOND),), action=arm
        )
        for arm, pays in enumerate(PAYS)
    )
    mean = given.gamma * sum(PAYS) / len(PAYS)
    wrong = (Wrong(mean, "mean-bootstrap"), Wrong(0.0, "least-bootstrap"), Wrong(mean, "batch-mixed-up"))
    return (*arms, Query("V(0)", "value", given.gamma, TOLERANCE, wrong, ((1.0, FIRST),)))


def policy_questions(given: Given) -> tuple[Query, ...]:
    """The probability of the best arm."""
    wrong = (Wrong(0.0, PERMUTED), Wrong(1 / 3, "policy-gradient-zero")) if given.family == "on-policy" else ()
    return (Query("pi(2|1)", "probability", 1.0, 0.2, wrong or (Wrong(0.0, PERMUTED),), ((1.0, SECOND),), action=2),)


PROBE = Probe(
    code="P7",
    name="max-chain",
    title="the best arm is found and its value carried back",
    components=("max bootstrap", "action index", "double-Q selection"),
    after=("P3", "P5"),
    cases=(
        Case("q", WORLD, q_questions, {"off-policy": 3000}, actions="discrete", methods=("q",)),
        Case(
            "policy",
            WORLD,
            policy_questions,
            {"on-policy": 5120},
            actions="discrete",
            hints={"on-policy": {"learning_rate": 1e-2}},
        ),
    ),
    documentation=__doc__,
)
