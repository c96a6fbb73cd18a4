"""Observation normalisation: raw 5 then 1, normalised +1 then -1.

What it does: Two steps show 5 and then 1, so running statistics have mean 3 and deviation 2, and the networks see +1
and -1. At the first step arm 0 pays 1; at the second arm 0 pays 0.3 and arm 2 pays 1. A raw second observation looks
like a normalised first one. The same two observations end by time limit in a world that pays 0 and 1. Last, the trainer
acts on far observations without being trained.
Right answer: greedy return 2; V(first) = 1 + gamma; network inputs +1 and -1; with the time limit V = (2.33, 3.33);
acting changes no network input.
Wrong answers: return 1.3: raw observations in evaluation, or clipped ones. 1.0: normalised twice. V(first) = 3.33:
the next observation is left raw. Inputs 5 and 1: statistics frozen at their initial values. V = (1.37, 1.96) with the
time limit: the final observation is left raw. Inputs that move: evaluation enters the statistics.
Isolates: observation normalisation in training, bootstrap and evaluation.
References: Ajax, normalisation chain; SB3 zoo#275; Gymnasium#256; SB3 1.2.0 changelog.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rlclinic.probes.definition import Case, Given, Hints, Probe, Query, Wrong
from rlclinic.probes.world import TWO_ARMS, Actions, State, World

FIRST, SECOND, FAR = (5.0,), (1.0,), (50.0,)
FAR_STEPS = 50
LIMIT_TOLERANCE = 0.4
"""Less than half of the gap 0.96 to a raw final observation."""


def _first(action: Any) -> float:
    return 1.0 if action == 0 else 0.0


def _second(action: Any) -> float:
    return {0: 0.3, 2: 1.0}.get(int(action), 0.0)


WORLD = World(
    {"0": State(FIRST, _first, ((1.0, "1"),)), "1": State(SECOND, _second)}, ((1.0, "0"),), Actions("discrete", (3,))
)
LIMIT = World(
    {"0": State(FIRST, 0.0, ((1.0, "1"),)), "1": State(SECOND, 1.0, ends_by="truncated")}, ((1.0, "0"),), TWO_ARMS
)


def questions(given: Given) -> tuple[Query, ...]:
    """What the greedy policy earns on raw observations, and V of the first step, which bootstraps from the second."""
    wrong = (Wrong(1.3, "evaluation-statistics-differ"), Wrong(1.0, "normalised-twice"))
    raw = (Wrong(1 / (1 - given.gamma), "next-observation-raw"),)
    return (
        Query("return", "return", 2.0, 0.1, wrong),
        Query("V(5)", "value", 1.0 + given.gamma, 0.3, raw, ((1.0, FIRST),)),
    )


def input_questions(_: Given) -> tuple[Query, ...]:
    """What the networks see."""
    return (
        Query("input(5)", "network_input", 1.0, 0.2, (Wrong(5.0, "statistics-frozen"),), ((1.0, FIRST),)),
        Query("input(1)", "network_input", -1.0, 0.2, (Wrong(1.0, "statistics-frozen"),), ((1.0, SECOND),)),
    )


def limit_questions(given: Given) -> tuple[Query, ...]:
    """V of both steps. A raw final observation looks like the normalised first one, a raw successor too."""
    gamma = given.gamma
    last = 1 / (1 - gamma**2)
    first = (Wrong(gamma * last, "final-observation-raw"), Wrong(0.0, "next-observation-raw"))
    second = (Wrong(last, "final-observation-raw"), Wrong(1.0, "next-observation-raw"))
    return (
        Query("V(5)", "value", gamma / (1 - gamma), LIMIT_TOLERANCE, first, ((1.0, FIRST),)),
        Query("V(1)", "value", 1 / (1 - gamma), LIMIT_TOLERANCE, second, ((1.0, SECOND),)),
    )


def moved_by_acting(trainer: Any, _: Given) -> Mapping[str, float]:
    """How far the input of one observation moves while the trainer acts on others."""
    seen, far = np.asarray(FIRST, np.float32), np.asarray(FAR, np.float32)
    before = np.asarray(trainer.network_input(seen), dtype=np.float64)
    for _step in range(FAR_STEPS):
        trainer.act(far)
    after = np.asarray(trainer.network_input(seen), dtype=np.float64)
    return {"moved": float(np.abs(after - before).max())}


def evaluation_questions(_: Given) -> tuple[Query, ...]:
    """It must not move."""
    wrong = (Wrong(5.0, "evaluation-updates-statistics"),)
    return (Query("moved", "contract", 0.0, 1e-3, wrong, key="moved"),)


NEEDS = {"normalize_observations": True}
FAST: Hints = {"on-policy": {"learning_rate": 1e-2}}
PROBE = Probe(
    code="P10",
    name="observation-normalisation",
    title="the same statistics in training, bootstrap and evaluation",
    components=("observation normalisation",),
    after=("P3", "P7"),
    cases=(
        Case(
            "chain",
            WORLD,
            questions,
            {"on-policy": 6400, "off-policy": 3000},
            actions="discrete",
            needs=NEEDS,
            hints=FAST,
        ),
        Case(
            "inputs",
            WORLD,
            input_questions,
            {"on-policy": 2000, "off-policy": 1000},
            actions="discrete",
            needs=NEEDS,
            methods=("network_input",),
        ),
        Case(
            "limit",
            LIMIT,
            limit_questions,
            {"on-policy": 6400, "off-policy": 3000},
            needs=NEEDS,
            methods=("value|q",),
        ),
        Case(
            "evaluation",
            WORLD,
            evaluation_questions,
            {"on-policy": 0, "off-policy": 0},
            actions="discrete",
            needs=NEEDS,
            methods=("network_input",),
            contract=moved_by_acting,
        ),
    ),
    documentation=__doc__,
)
