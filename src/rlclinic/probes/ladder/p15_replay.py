"""Replay: n-step targets out of a ring that wraps in mid-episode.

What it does: Seven steps pay 1 each, the observation tells the step, the buffer holds 11 transitions, targets have n
= 3.
Right answer: V(6) = 1, V(4) = 2.19, V(0) = 3.06.
Wrong answers: V(0) = 4.21: gamma once instead of gamma^n. V(6) = 3.33: the window crosses episodes. V(0) = 2.19: the
target network stays where it began. V(0) = 3.32: the bootstrap is from the first successor instead of the n-th.
V(4) = 2.37: the window crosses the seam of the ring.
Isolates: n-step, window crossing, done per row, target update.
References: FastTD3#6 and #7; ray#18358; tf-agents#939; SB3 1.0 changelog.
"""

from __future__ import annotations

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.oracle import exact_values
from rlclinic.probes.world import Seen, chain

LENGTH, CAPACITY, N = 7, 11, 3
START_TOLERANCE = 0.12
"""Less than half of the gap 0.26 to a bootstrap from the first successor."""
MIDDLE_TOLERANCE = 0.08
"""Less than half of the gap 0.17 that windows across the seam leave, measured."""


def _at(step: int) -> Seen:
    return tuple(1.0 if place == step else 0.0 for place in range(LENGTH))


WORLD = chain(*((_at(step), 1.0) for step in range(LENGTH)))


def questions(given: Given) -> tuple[Query, ...]:
    """V at three steps."""
    gamma = given.gamma
    truth = exact_values(WORLD, gamma)
    segment, last = sum(gamma**step for step in range(N)), truth[str(LENGTH - 1)]
    # V(s) = segment + gamma^n V(s + n) for two windows, then the last state.
    undiscounted = N + gamma**N * (N + gamma**N * last)
    gamma_once = segment + gamma * (segment + gamma * last)
    first_successor = segment
    for _ in range(LENGTH - N):
        first_successor = segment + gamma**N * first_successor
    start = (
        Wrong(gamma_once, "gamma-not-to-the-n"), Wrong(undiscounted, "n-step-undiscounted"),
        Wrong(first_successor, "n-step-first-successor"), Wrong(segment, "target-stuck"),
    )  # fmt: skip
    middle = (Wrong(float(N), "n-step-undiscounted"),)
    end = (Wrong(1 / (1 - gamma), "window-crosses-episodes"),)
    return (
        Query("V(0)", "value", truth["0"], START_TOLERANCE, start, ((1.0, _at(0)),)),
        Query("V(4)", "value", truth["4"], MIDDLE_TOLERANCE, middle, ((1.0, _at(4)),)),
        Query("V(6)", "value", truth["6"], 0.3, end, ((1.0, _at(6)),)),
    )


PROBE = Probe(
    code="P15",
    name="replay",
    title="n-step targets stop at the end of an episode and at the ring's seam",
    components=("n-step", "window crossing", "done per row", "target update"),
    after=("P3", "P4"),
    cases=(
        Case(
            "chain",
            WORLD,
            questions,
            {"off-policy": 5000},
            needs={"n_step_return": N, "buffer_size": CAPACITY},
            hints={"off-policy": {"learning_rate": 2e-3}},
            methods=("value|q",),
        ),
    ),
    documentation=__doc__,
)
