"""Soft value: entropy is part of the value, or of the loss.

What it does: With alpha fixed at 0.5, two steps pay 0 and then 1 and actions do not matter (two continuous
dimensions, or three arms). With an entropy coefficient of 1, two arms pay 1 and 0, and then nothing.
Right answer: continuous Q(0) = gamma (1 + alpha 2 h), h = 0.6836 the largest entropy of a tanh-Gaussian per
dimension: 1.18; discrete Q(0) = gamma (1 + alpha ln 3) = 1.08; policy with a bonus: probability 0.731 = sigmoid(1),
and 0.5 where nothing pays.
Wrong answers: 0.7: the entropy term is dropped. 0.22 (0.32): its sign is flipped. 0.94: mean over dimensions instead
of sum. 1.38: entropy outside gamma. 1.60: entropy of the Gaussian before tanh. Q(1) = 1.48: entropy at the terminal
step. For the bonus 1: no bonus, or a flipped sign; 0 or 1 where nothing pays: a flipped sign.
Isolates: entropy term, entropy sign, sum over dimensions, Jacobian of the squashing.
References: Haarnoja et al. (2018); SB3 1.0 changelog; inac_pytorch#1.
"""

from __future__ import annotations

from typing import Any

from rlclinic.probes.definition import Case, Given, Probe, Query, Wrong
from rlclinic.probes.soft import gaussian_entropy, largest_tanh_entropy, sigmoid
from rlclinic.probes.world import TWO_ARMS, Actions, State, World, chain

ALPHA = 0.5
FIRST, SECOND, SEEN = (-1.0,), (1.0,), (0.0,)
SQUARE = Actions("box", low=(-1.0, -1.0), high=(1.0, 1.0))
CHAIN = chain((FIRST, 0.0), (SECOND, 1.0)).with_actions(SQUARE)
THREE = chain((FIRST, 0.0), (SECOND, 1.0)).with_actions(Actions("discrete", (3,)))
PAYS = (0.0, 1.0)
FLIPPED = "entropy-sign-flipped"
BONUS = {"n_steps": 64, "batch_size": 64, "learning_rate": 3e-3}


def _arm(action: Any) -> float:
    return PAYS[action]


ARMS = World({"only": State(SEEN, _arm)}, ((1.0, "only"),), TWO_ARMS)


def _soft(given: Given, entropy: float, dimensions: int, before_tanh: float) -> tuple[Query, ...]:
    gamma = given.gamma
    total = ALPHA * dimensions * entropy
    wrong = [
        Wrong(gamma, "entropy-dropped"),
        Wrong(gamma * (1 - total), FLIPPED),
        Wrong(gamma + total, "entropy-outside-gamma"),
    ]
    if dimensions > 1:
        wrong.append(Wrong(gamma * (1 + total / dimensions), "entropy-mean-over-dimensions"))
        wrong.append(Wrong(gamma * (1 + ALPHA * dimensions * before_tanh), "entropy-before-squashing"))
    late = (Wrong(1 + gamma * total, "entropy-at-terminal"),)
    action = 0 if dimensions == 1 else (0.0,) * dimensions
    return (
        Query("Q(0)", "q", gamma * (1 + total), 0.08, tuple(wrong), ((1.0, FIRST),), action=action),
        Query("Q(1)", "q", 1.0, 0.1, late, ((1.0, SECOND),), action=action),
    )


def continuous_questions(given: Given) -> tuple[Query, ...]:
    """Q of both steps with two continuous dimensions."""
    entropy, deviation = largest_tanh_entropy()
    return _soft(given, entropy, 2, gaussian_entropy(deviation))


def discrete_questions(given: Given) -> tuple[Query, ...]:
    """Q of both steps with three arms."""
    from math import log

    return _soft(given, log(3), 1, 0.0)


def bonus_questions(_: Given) -> tuple[Query, ...]:
    """The probability at which pay and bonus balance."""
    truth = sigmoid(1.0)
    wrong = (
        Wrong(1.0, "entropy-dropped"),
        Wrong(1.0, FLIPPED),
        Wrong(0.5, "policy-gradient-zero"),
        Wrong(0.0, "advantage-reversed"),
    )
    return (Query("pi(best)", "probability", truth, 0.1, wrong, ((1.0, SEEN),), action=1),)


def even_questions(_: Given) -> tuple[Query, ...]:
    """Where nothing pays, the bonus alone decides."""
    wrong = (Wrong(0.0, FLIPPED), Wrong(1.0, FLIPPED))
    return (Query("pi(1)", "probability", 0.5, 0.2, wrong, ((1.0, SEEN),), action=1),)


PROBE = Probe(
    code="P13",
    name="soft-value",
    title="entropy enters with the right sign, size and place",
    components=("entropy term", "entropy sign", "sum over dimensions", "squashing Jacobian"),
    after=("P3", "P5", "S0e"),
    cases=(
        Case(
            "continuous",
            CHAIN,
            continuous_questions,
            {"off-policy": 8000},
            actions="box",
            needs={"temperature": ALPHA},
            methods=("q",),
        ),
        Case(
            "discrete",
            THREE,
            discrete_questions,
            {"off-policy": 6000},
            actions="discrete",
            needs={"temperature": ALPHA},
            methods=("q",),
        ),
        Case(
            "bonus",
            ARMS,
            bonus_questions,
            {"on-policy": 9600},
            actions="discrete",
            # Pay and bonus balance there only in units of the reward.
            needs={"entropy_coefficient": 1.0, "normalize_advantage": False},
            methods=("action_probabilities",),
            hints={"on-policy": BONUS},
        ),
        Case(
            "even",
            chain((SEEN, 0.0)),
            even_questions,
            {"on-policy": 3200},
            actions="discrete",
            needs={"entropy_coefficient": 1.0},
            methods=("action_probabilities",),
            hints={"on-policy": BONUS},
        ),
    ),
    documentation=__doc__,
)
