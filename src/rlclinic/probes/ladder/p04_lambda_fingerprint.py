"""Lambda fingerprint: one value must fit four targets.

What it does: Four steps show the same observation and pay 1, 1, -1, 0. One value cannot be right for all of them, so
where it settles betrays the estimator: lambda, n, and the direction of the recursion.
Right answer: the estimator's own fixed point: 0.3728 for gamma 0.7 and lambda 0.4; for n-step targets of n = 3 its
own.
Wrong answers: TD(0), Monte Carlo, lambda 0.95 (hard-coded), gamma and lambda swapped, 1 - lambda, a forward scan,
gamma missing in the trace, a trace that is not cut at the end of an episode.
Isolates: GAE recursion, lambda plumbing, n-step.
References: Ajax, aliased chain; skrl#449.
"""

from __future__ import annotations

from rlclinic.probes.answers import value_questions
from rlclinic.probes.definition import Case, Given, Probe, Query
from rlclinic.probes.world import chain

TOLERANCE = 0.03
"""Less than half of the gap 0.074 to the trace without gamma (on-policy, gamma 0.7, lambda 0.4)."""
WORLD = chain(((1.0,), 1.0), ((1.0,), 1.0), ((1.0,), -1.0), ((1.0,), 0.0))
SMALL = chain(((1.0,), 0.4), ((1.0,), 0.4), ((1.0,), -0.4), ((1.0,), 0.0))
"""For n-step targets: errors stay below 1, where a Huber loss has the fixed point of a squared one."""
SMALL_TOLERANCE = 0.05
"""Less than half of the gap 0.155 to one-step targets."""
READ = {"V": ((1.0, (1.0,)),)}


def lambda_questions(given: Given) -> tuple[Query, ...]:
    """The fixed point of GAE."""
    faults = (
        "lambda-zero", "monte-carlo", "lambda-not-forwarded", "gamma-lambda-swapped", "one-minus-lambda", "gae-forward",
        "gamma-missing-in-trace", "trace-not-cut",
    )  # fmt: skip
    return value_questions(given, READ, faults, TOLERANCE, aliased=True)


def n_step_questions(given: Given) -> tuple[Query, ...]:
    """The fixed point of n-step targets; one-step targets read differently."""
    return value_questions(given, READ, ("lambda-zero",), SMALL_TOLERANCE, aliased=True)


SLOW = {"learning_rate": 3e-3}
PROBE = Probe(
    code="P4",
    name="lambda-fingerprint",
    title="the targets are those of the stated lambda or n",
    components=("GAE recursion", "lambda plumbing", "n-step"),
    after=("P3",),
    cases=(
        Case(
            "lambda",
            WORLD,
            lambda_questions,
            {"on-policy": 3200},
            needs={"gae_lambda": 0.4},
            hints={"on-policy": SLOW},
            methods=("value|q",),
        ),
        Case(
            "n-step",
            SMALL,
            n_step_questions,
            {"off-policy": 2500},
            needs={"n_step_return": 3},
            hints={"off-policy": {"batch_size": 256, "learning_rate": 2e-3}},
            methods=("value|q",),
        ),
    ),
    documentation=__doc__,
)
