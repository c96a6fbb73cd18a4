"""Bookkeeping: seven steps, seven points.

What it does: Episodes of seven steps pay 1 each, in one environment and in two side by side. What the trainer logs is
compared with what the environments saw.
Right answer: logged return 7, logged length 7, logged steps as many as were made, no step after the end of an
episode.
Wrong answers: 8 or 6: an off-by-one in the episode's bookkeeping. Other step counts: vector steps counted as
environment steps, or repeated ones not counted; 8/7 of them: the reset of next-step autoreset counts as a step.
Isolates: bookkeeping.
References: Ajax, counter; snake-hrl-torchrl (metrics divided by the update count).
"""

from __future__ import annotations

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.world import chain

LENGTH = 7
WORLD = chain(*(((step / LENGTH,), 1.0) for step in range(LENGTH)))
OFF, STEPS_OFF = "bookkeeping-wrong", "steps-miscounted"


def questions(given: Given) -> tuple[Query, ...]:
    """What is logged, and what the environment saw."""
    around = (Wrong(LENGTH - 1.0, OFF), Wrong(LENGTH + 1.0, OFF))
    miscounted = [Wrong((LENGTH + 1) / LENGTH, "fake-autoreset-row")]
    if given.n_envs > 1:
        miscounted.append(Wrong(1.0 / given.n_envs, STEPS_OFF))
    return (
        Query("logged return", "logged", LENGTH, 0.01, around, key="return"),
        Query("logged length", "logged", LENGTH, 0.01, around, key="length"),
        Query("logged steps", "ledger", 1.0, 0.02, tuple(miscounted), key="logged_steps"),
    )


PROBE = Probe(
    code="S0g",
    name="bookkeeping",
    title="what is logged is what happened",
    components=("bookkeeping",),
    after=(),
    cases=tuple(
        Case(name, WORLD, questions, {"on-policy": 224, "off-policy": 224}, needs={"n_envs": envs}, methods=("logged",))
        for name, envs in (("counter", 1), ("vector", 2))
    ),
    documentation=__doc__,
    preflight=True,
    exact=True,
)
