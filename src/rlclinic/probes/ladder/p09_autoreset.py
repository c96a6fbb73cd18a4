"""Autoreset: episodes end while other environments go on.

What it does: (a) Two environments: s0 pays 0 and leads to m, m pays 1 and stays; after three steps the episode is
truncated at m. (b) Four environments out of step: a sign is drawn at reset, s0 pays 0, s1 pays the sign and ends with
probability one half; the odd part over the sign is read.
Right answer: (a) V(m) = 3.33, V(s0) = 2.33. (b) V(s1) = 1/(1 - gamma/2) = 1.54, V(s0) = 1.08.
Wrong answers: (a) 2.47: the reset observation is bootstrapped; 1.80: the extra row of next-step autoreset is learned;
1.54: the mask is terminated or truncated; 2.9: the end of a rollout is treated as terminal. (b) (0, 0): rewards
rolled across environments; (0, 1): next observation and done rolled; (0.93, 1.78): the done flag of one environment
used for all; lockstep: the environments share a random key.
Isolates: final observation, fake autoreset row, environment axis, shared random key.
References: Gymnasium 1.0 autoreset modes; cleanrl#499; pytorch/rl#2473; SB3 1.0 changelog.
"""

from __future__ import annotations

from rlclinic.probes.answers import value_questions
from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.world import END, State, World

STAY_TOLERANCE = 0.17
"""Less than half of the gap 0.38 to a rollout end that is treated as terminal (rollouts of 8)."""
ODD_TOLERANCE = 0.09
"""Less than half of the gaps 0.20 to the same fault and to a done flag used for all."""
S0, M = (-1.0,), (1.0,)
STAY = World(
    {
        "s0": State(S0, 0.0, ((1.0, "m1"),)),
        "m1": State(M, 1.0, ((1.0, "m2"),)),
        "m2": State(M, 1.0, ends_by="truncated"),
    },
    ((1.0, "s0"),),
)
SIGNED = World(
    {
        **{f"s0{sign:+d}": State((-1.0, float(sign)), 0.0, ((1.0, f"s1{sign:+d}"),)) for sign in (1, -1)},
        **{
            f"s1{sign:+d}": State((1.0, float(sign)), float(sign), ((0.5, f"s1{sign:+d}"), (0.5, END)))
            for sign in (1, -1)
        },
    },
    ((0.5, "s0+1"), (0.5, "s0-1")),
)


def stay_questions(given: Given) -> tuple[Query, ...]:
    """V of both observations."""
    faults = ["reset-observation-bootstrap", "fake-autoreset-row", "truncation-as-termination"]
    if given.family == "on-policy":
        faults.append("rollout-end-terminal")
    return value_questions(given, {"V(s0)": ((1.0, S0),), "V(m)": ((1.0, M),)}, faults, STAY_TOLERANCE)


def signed_questions(given: Given) -> tuple[Query, ...]:
    """The odd part of V over the sign, and whether the environments move in lockstep."""
    read = {f"V(s{place})": ((0.5, (at, 1.0)), (-0.5, (at, -1.0))) for place, at in ((0, -1.0), (1, 1.0))}
    faults = ["reward-rolled-by-environment", "next-rolled-by-environment", "first-done-for-all", "fake-autoreset-row"]
    if given.family == "on-policy":
        faults.append("rollout-end-terminal")
    values = value_questions(given, read, faults, ODD_TOLERANCE)
    shared = (Wrong(1.0, "shared-random-key"),)
    return (*values, Query("lockstep", "ledger", 0.0, 0.1, shared, key="lockstep"))


SHORT = {"n_steps": 8, "learning_rate": 5e-3}
PROBE = Probe(
    code="P9",
    name="autoreset",
    title="the end of an episode in a vector environment",
    components=("final observation", "fake autoreset row", "environment axis", "shared random key"),
    after=("P8",),
    cases=(
        Case(
            "stay",
            STAY,
            stay_questions,
            {"on-policy": 8000, "off-policy": 4000},
            needs={"n_envs": 2},
            hints={"on-policy": {**SHORT, "batch_size": 16}},
            methods=("value|q",),
        ),
        Case(
            "signed",
            SIGNED,
            signed_questions,
            {"on-policy": 16_000, "off-policy": 10_000},
            needs={"n_envs": 4},
            hints={"on-policy": {"n_steps": 8, "batch_size": 32, "n_epochs": 4, "learning_rate": 3e-3}},
            methods=("value|q",),
        ),
    ),
    documentation=__doc__,
)
