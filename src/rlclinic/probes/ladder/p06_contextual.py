"""Contextual: the right action depends on the observation.

What it does: The observation is +1 or -1. The matching arm pays 1 and the other -1; a continuous action pays
observation times action. The first is repeated with what other probes switch off: normalised advantages, clipped
values, clipped gradients.
Right answer: the action follows the observation; V = 1 for both (continuous: at least 0.5).
Wrong answers: the same action for both: observations, actions and advantages of a batch do not belong together, or
data are stale. Action and observation opposed: reversed. Another V with clipped values: they are clipped around zero.
Isolates: batching, stale data, coupling of actor and critic.
References: Jones (2021); ProbeEnv5, whose reward by sign trapped a quarter of the seeds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.ladder.p05_advantage_sign import MIXED, NO_GRADIENT, PERMUTED, REVERSED
from rlclinic.probes.world import TWO_ARMS, UNIT_BOX, Actions, State, World

SIGNS = {"plus": 1.0, "minus": -1.0}
USUAL = {"clip_range_value": 0.2, "max_grad_norm": 0.5}
CLIPPED_TOLERANCE = 0.1
"""A value that is clipped in the wrong place stops anywhere beyond the clip, often not far from the right one."""


def _match(sign: float) -> Any:
    return lambda action: 1.0 if (action == 1) == (sign > 0) else -1.0


def _times(sign: float) -> Any:
    return lambda action: sign * float(action[0])


def _world(pays: Any, actions: Actions) -> World:
    states = {name: State((sign,), pays(sign)) for name, sign in SIGNS.items()}
    return World(states, tuple((0.5, name) for name in SIGNS), actions)


ARMS = _world(_match, TWO_ARMS)
LINE = _world(_times, UNIT_BOX)


def arm_questions(given: Given) -> tuple[Query, ...]:
    """The probability of the matching arm at both observations, and the value once the policy matches."""
    wrong = [Wrong(0.0, REVERSED), Wrong(0.0, PERMUTED)]
    if given.family == "on-policy":
        wrong.append(Wrong(0.5, NO_GRADIENT))
    policy = tuple(
        Query(f"pi(match|{sign:+g})", "probability", 1.0, 0.15, tuple(wrong), ((1.0, (sign,)),), action=int(sign > 0))
        for sign in SIGNS.values()
    )
    low = (Wrong(0.0, MIXED), Wrong(0.0, NO_GRADIENT), Wrong(-1.0, REVERSED))
    value = tuple(Query(f"V({sign:+g})", "value", 1.0, 0.25, low, ((1.0, (sign,)),)) for sign in SIGNS.values())
    return (*policy, *value)


def usual_questions(given: Given) -> tuple[Query, ...]:
    """The same with the usual normalisation and clipping; they leave these answers where they are."""
    away = "advantages-normalised-away"
    return tuple(
        replace(query, wrong=(*query.wrong, Wrong(0.5, away)))
        if query.how == "probability"
        else replace(query, wrong=(*query.wrong, Wrong(0.0, away)), tolerance=CLIPPED_TOLERANCE)
        for query in arm_questions(given)
    )


def line_questions(_: Given) -> tuple[Query, ...]:
    """The greedy action at both observations."""
    return tuple(
        Query(f"action({sign:+g})", "greedy", sign, 0.5, (Wrong(-sign, REVERSED),), ((1.0, (sign,)),), action=0)
        for sign in SIGNS.values()
    )


PROBE = Probe(
    code="P6",
    name="contextual",
    title="the action follows the observation",
    components=("batching", "stale data", "coupling"),
    after=("P2", "P5"),
    cases=(
        Case("arms", ARMS, arm_questions, {"on-policy": 3840, "off-policy": 2000}, actions="discrete"),
        Case(
            "usual",
            ARMS,
            usual_questions,
            {"on-policy": 3840},
            actions="discrete",
            needs={"normalize_advantage": True},
            hints={"on-policy": USUAL},
        ),
        Case("line", LINE, line_questions, {"on-policy": 5120, "off-policy": 3000}, actions="box"),
    ),
    documentation=__doc__,
    alias="ProbeEnv5",
    preflight=True,
)
