"""Discount: nothing now, one later.

What it does: Observation 0 pays 0, then observation 1 pays 1 and terminates. The two observations differ, so each has
its own value. On-policy trainers also learn it from rollouts of a single step, in environments side by side that start
at either observation.
Right answer: V(1) = 1, V(0) = gamma.
Wrong answers: V(0) = 1: no discount. gamma squared: discounted twice. 1 - gamma: the wrong factor. 0: the done flag
comes one step early, or a state bootstraps from itself. (1.37, 1.96): done ignored, through the reset observation.
(2.33, 3.33): done ignored, through the final observation. V(1) = 3.33 alone: the done flag comes one step late.
V(0) = 0 in rollouts of one step only: their end is treated as terminal, or bootstraps from its own value.
Isolates: bootstrap, gamma.
References: Jones (2021); ProbeEnv3, whose two steps looked alike so that no value could be right.
"""

from __future__ import annotations

from rlclinic.probes.answers import value_questions
from rlclinic.probes.definition import Case, Given, Probe, Query
from rlclinic.probes.world import World, chain

TOLERANCE = 0.09
"""Less than half of the gap 0.21 to gamma squared."""
WORLD = chain(((0.0,), 0.0), ((1.0,), 1.0))
EITHER = World(WORLD.states, ((0.5, "0"), (0.5, "1")))
READ = {"V(0)": ((1.0, (0.0,)),), "V(1)": ((1.0, (1.0,)),)}
SIDE_BY_SIDE = 16


def questions(given: Given) -> tuple[Query, ...]:
    """V of both steps."""
    faults = [
        "no-discount", "gamma-squared", "one-minus-gamma", "self-bootstrap", "done-ignored",
        "done-ignored-reset-observation", "done-one-step-late", "observation-shifted",
    ]  # fmt: skip
    if given.family == "on-policy":
        faults.append("gamma-lambda-swapped")
    return value_questions(given, READ, faults, TOLERANCE)


def rollout_questions(given: Given) -> tuple[Query, ...]:
    """The same where every step is the last of its rollout."""
    return value_questions(given, READ, ("rollout-end-terminal", "rollout-end-from-itself"), TOLERANCE)


PROBE = Probe(
    code="P3",
    name="discount",
    title="the critic discounts a later reward",
    components=("bootstrap", "gamma"),
    after=("P2",),
    cases=(
        Case("value", WORLD, questions, {"on-policy": 2560, "off-policy": 2000}, methods=("value|q",)),
        Case(
            "rollout",
            EITHER,
            rollout_questions,
            {"on-policy": 3200},
            needs={"n_steps": 1, "n_envs": SIDE_BY_SIDE},
            hints={"on-policy": {"batch_size": SIDE_BY_SIDE}},
            methods=("value|q",),
        ),
    ),
    documentation=__doc__,
    alias="ProbeEnv3",
    preflight=True,
)
