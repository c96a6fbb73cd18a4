"""Advantages of a hand-made batch.

What it does: Two environments, three steps, one termination and one truncation in mid-rollout; rewards and values are
given.
Right answer: generalised advantage estimation by its definition.
Wrong answers: those of a batch flattened before the recursion (which no value probe can see), a forward scan, a trace
that is not cut, a truncation treated as termination, swapped flags, an ignored done flag, wrong lambda or gamma.
Isolates: GAE recursion, environment axis, done mask.
References: snake-hrl-torchrl; pytorch/rl#1522; SB3 1.0 changelog (GAE off by one).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.estimator_faults import FAULTS, OF_REPLAYS
from rlclinic.probes.ladder.p03_discount import WORLD
from rlclinic.probes.oracle import Estimator, FloatArray, Stream, advantages, right

STEPS, ENVS = 3, 2
TOLERANCE = 1e-3
"""Float32 arithmetic on numbers of order 1."""
REWARDS = np.array([[1.0, -0.5], [0.3, 2.0], [-1.2, 0.7]])
VALUES = np.array([[0.2, 1.1], [-0.4, 0.6], [0.9, -0.8]])
AFTER = np.array([0.5, -0.3])
"""Values after the last step."""
FINAL = np.array([-0.9, 1.7])
"""Values of the final observations of the two episodes that end."""
NOT_HERE = OF_REPLAYS | {
    "fake-autoreset-row", "broadcast-value-loss", "returns-mixed-up", "observation-shifted", "advantage-for-return",
}  # fmt: skip
"""Faults of replays, of the stream or of the loss, which a ready-made batch cannot show."""
USUAL_GAMMA = 0.99


def contract(trainer: Any, given: Given) -> Mapping[str, float]:
    """Every advantage of the batch."""
    terminated, truncated = _flags()
    successor = np.vstack([VALUES[1:], AFTER])
    successor = np.where((terminated + truncated) > 0, FINAL, successor)
    batch = {
        "rewards": REWARDS,
        "values": VALUES,
        "next_values": successor,
        "terminated": terminated,
        "truncated": truncated,
        "last_values": AFTER,
    }
    found = np.asarray(trainer.advantages({name: array.copy() for name, array in batch.items()}), dtype=np.float64)
    if found.size != REWARDS.size:
        raise ValueError(f"advantages(batch) returned shape {found.shape} for a batch of shape {REWARDS.shape}")
    found = found.reshape(STEPS, ENVS)
    return {f"{step}{env}": float(found[step, env]) for step in range(STEPS) for env in range(ENVS)}


def questions(given: Given) -> tuple[Query, ...]:
    """One question per step and environment."""
    estimator = Estimator(given.gamma, given.lam, STEPS, ENVS)
    stream, values = _stream()
    truth = advantages(right(stream, estimator), values)
    wrong: dict[str, FloatArray] = {
        name: advantages(fault(stream, estimator), values) for name, fault in FAULTS.items() if name not in NOT_HERE
    }
    wrong["advantage-reversed"] = -truth
    wrong["gamma-ignored"] = advantages(right(stream, replace(estimator, gamma=USUAL_GAMMA)), values)
    return tuple(
        Query(
            f"A({step},env {env})", "contract", float(truth[step, env]), TOLERANCE,
            tuple(
                Wrong(float(table[step, env]), name)
                for name, table in wrong.items()
                if abs(table[step, env] - truth[step, env]) > 2 * TOLERANCE
            ),
            key=f"{step}{env}",
        )
        for step in range(STEPS) for env in range(ENVS)
    )  # fmt: skip


def _flags() -> tuple[FloatArray, FloatArray]:
    terminated, truncated = np.zeros((STEPS, ENVS)), np.zeros((STEPS, ENVS))
    terminated[1, 0] = 1.0
    truncated[1, 1] = 1.0
    return terminated, truncated


def _stream() -> tuple[Stream, FloatArray]:
    """The batch as a stream in which every step is a state of its own; then the states after it and the final ones."""
    seen = np.arange(STEPS * ENVS).reshape(STEPS, ENVS)
    after = STEPS * ENVS + np.arange(ENVS)
    reset = np.vstack([seen[1:], after])
    terminated, truncated = _flags()
    final = STEPS * ENVS + ENVS + np.arange(ENVS)
    successor = np.where((terminated + truncated) > 0, final, reset)
    stream = Stream(
        seen=seen[None],
        reward=REWARDS[None],
        successor=successor[None],
        reset=reset[None],
        terminated=terminated[None],
        truncated=truncated[None],
    )
    return stream, np.concatenate([VALUES.reshape(-1), AFTER, FINAL])


PROBE = Probe(
    code="S0b",
    name="advantages",
    title="advantages of a hand-made batch are exact",
    components=("GAE recursion", "environment axis", "done mask"),
    after=(),
    cases=(
        Case(
            "static",
            WORLD,
            questions,
            {"on-policy": 0},
            needs={"gae_lambda": 0.4, "n_envs": ENVS},
            hints={"on-policy": {"n_steps": STEPS, "batch_size": STEPS * ENVS}},
            methods=("advantages",),
            contract=contract,
        ),
    ),
    documentation=__doc__,
    preflight=True,
    exact=True,
)
