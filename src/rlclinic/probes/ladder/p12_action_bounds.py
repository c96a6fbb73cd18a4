"""Action bounds: a box that is neither symmetric nor of unit size.

What it does: Actions lie in [0, 6] x [-8, 8]; the best is (4.5, -4). The environment records what it receives. The box
is wide against a Gaussian of unit deviation: in a narrow one most are clipped and the best mean lies at the edge.
For squashed policies a second box pays the action itself, so the best lies on the edge.
Right answer: the greedy action is (4.5, -4); no action lies outside the box; the edge is reached.
Wrong answers: a1 = 1, a2 = -1: actions are clipped to [-1, 1], or a tanh is not rescaled. a2 = 0: the bounds of one
dimension are used for all. Actions outside the box: neither clipped nor squashed. On the way to 6: 5.29 where the mean
is squashed before the action is, 3 where the centre of the box is left out, 1 where its width is left out too.
Isolates: action rescaling, action bounds, executed action.
References: SB3 2.6.0 changelog (PPO predict); mesozoic-labs#408.
"""

from __future__ import annotations

import math
from typing import Any

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.world import Actions, State, World

ONE = "bounds-of-one-dimension"
SEEN = (1.0,)
BEST = (4.5, -4.0)
WIDTHS = (3.0, 8.0)
HALF = 3.0
"""Half width of the box with the edge."""
CAREFUL = {"learning_rate": 3e-3, "learning_starts": 400, "temperature": 0.1}
"""A critic that has seen little drives a tanh policy to the edge, where it has no gradient to come back."""
BOX = Actions("box", low=(0.0, -8.0), high=(6.0, 8.0))


def _near(action: Any) -> float:
    return -float(sum(((action[at] - BEST[at]) / WIDTHS[at]) ** 2 for at in range(2)))


def _far(action: Any) -> float:
    return float(action[0]) / HALF - 1


WORLD = World({"only": State(SEEN, _near)}, ((1.0, "only"),), BOX)
EDGE = World({"only": State(SEEN, _far)}, ((1.0, "only"),), Actions("box", low=(0.0,), high=(2 * HALF,)))


def questions(_: Given) -> tuple[Query, ...]:
    """The greedy action, and the share of actions outside the box."""
    at = ((1.0, SEEN),)
    return (
        Query("a1", "greedy", BEST[0], 1.2, (Wrong(1.0, "action-not-rescaled"),), at, action=0),
        Query("a2", "greedy", BEST[1], 1.4, (Wrong(-1.0, "action-not-rescaled"), Wrong(0.0, ONE)), at, action=1),
        Query("outside", "ledger", 0.0, 0.001, (Wrong(1.0, "actions-outside-box"),), key="outside"),
    )


def edge_questions(_: Given) -> tuple[Query, ...]:
    """The greedy action reaches the end of the box."""
    wrong = (
        Wrong(HALF * (1 + math.tanh(1.0)), "squashed-twice"),
        Wrong(1.0, "action-not-rescaled"),
        Wrong(HALF, "action-not-rescaled"),
    )
    return (Query("a", "greedy", 2 * HALF, 0.33, wrong, ((1.0, SEEN),), action=0),)


PROBE = Probe(
    code="P12",
    name="action-bounds",
    title="actions reach the whole box and never leave it",
    components=("action rescaling", "action bounds", "executed action"),
    after=("P5", "S0e"),
    cases=(
        Case(
            "box",
            WORLD,
            questions,
            {"on-policy": 12_800, "off-policy": 4000},
            actions="box",
            hints={"on-policy": {"learning_rate": 1e-2}, "off-policy": CAREFUL},
        ),
        Case("edge", EDGE, edge_questions, {"off-policy": 2000}, actions="box"),
    ),
    documentation=__doc__,
)
