"""Advantage sign: one arm pays, the other costs.

What it does: Two arms pay +1 and -1, or a continuous action pays itself. The reward is proportional to the action,
because a reward by sign alone has no gradient once all samples lie on one side. Trainers with a ratio clip also learn
from one rollout for many epochs; once more in large steps, where luck that is not shown adds +1 or -1 to either arm.
How large a step is depends on network, optimiser and initial weights, so both set the learning rate by what one pass
over the rollout moves.
Right answer: the paying arm with probability near 1; a mean action of at least 0.5; Q = +1 and -1. One rollout moves
the probability by half the clip range wherever it starts (the ratios of both arms reach the clip there), and a little
further by momentum; with luck no further, because each arm then has advantages of both signs, and those that the clip
leaves a gradient bring a step that went too far back.
Wrong answers: probability 0 or action -1: reversed advantage, inverted ratio, or an actor that descends. The
untrained policy: no policy gradient. Q values swapped: action index. Probability 1 after one rollout: the ratio stays
at 1 or is not clipped. The same with luck only: the surrogate is not the smaller of both terms.
Isolates: advantage sign, ratio direction, actor update.
References: Jones (2021); ProbeEnv4; higgsfield RL-Adventure-2#20, tensorforce#312.
"""

from __future__ import annotations

from typing import Any

from rlclinic.probes.definition import Case, Given, Pace, Probe, Query, Wrong
from rlclinic.probes.world import TWO_ARMS, UNIT_BOX, State, World

SEEN = (0.0,)
ONE = (1.0,)
"""What is shown where the pace counts: at 0 a network without biases begins slowly and then moves ever faster."""
PAYS = (-1.0, 1.0)
REVERSED = "advantage-reversed"
NO_GRADIENT = "policy-gradient-zero"
PERMUTED, MIXED = "action-index-permuted", "batch-mixed-up"
EPOCHS = 300
RATE = 1e-3
"""Where the search for the pace begins."""
LUCK = 1.0
SMALL_STEPS, LARGE_STEPS = Pace(0.03), Pace(0.2)
"""Momentum of 0.9 goes on for about ten steps once the clip has stopped the gradient: 0.3 and 2 logits."""
OVERSHOOT = 0.05
"""What that adds in small steps."""
LARGE_EPOCHS = 100
FAR = 0.5
"""How far a policy moves that nothing stops, from even odds to certainty."""


def _one_rollout(steps: int) -> dict[str, Any]:
    # A critic that learns too would move a policy that shares its layers.
    return {"n_steps": steps, "batch_size": steps, "value_coefficient": 0.0}


def _arm(action: Any) -> float:
    return PAYS[action]


def _itself(action: Any) -> float:
    return float(action[0])


def _lucky(luck: float) -> Any:
    return lambda action: luck + PAYS[action] / 2


ARMS = World({"only": State(SEEN, _arm)}, ((1.0, "only"),), TWO_ARMS)
SHOWN_ARMS = World({"only": State(ONE, _arm)}, ((1.0, "only"),), TWO_ARMS)
CHANCES = World(
    {name: State(ONE, _lucky(luck)) for name, luck in (("lucky", LUCK), ("unlucky", -LUCK))},
    ((0.5, "lucky"), (0.5, "unlucky")),
    TWO_ARMS,
)
LINE = World({"only": State(SEEN, _itself)}, ((1.0, "only"),), UNIT_BOX)


def arm_questions(given: Given) -> tuple[Query, ...]:
    """The probability of the paying arm."""
    wrong = [Wrong(0.0, REVERSED), Wrong(0.0, PERMUTED)]
    if given.family == "on-policy":
        wrong.append(Wrong(0.5, MIXED))
    return (Query("pi(best)", "probability", 1.0, 0.1, tuple(wrong), ((1.0, SEEN),), action=1),)


def q_questions(_: Given) -> tuple[Query, ...]:
    """Q of both arms."""
    return tuple(
        Query(
            f"Q({arm})",
            "q",
            pays,
            0.2,
            (Wrong(-pays, PERMUTED), Wrong(-pays, "reward-negated"), Wrong(0.0, MIXED)),
            ((1.0, SEEN),),
            action=arm,
        )
        for arm, pays in enumerate(PAYS)
    )


def clip_questions(given: Given) -> tuple[Query, ...]:
    """How far one rollout moves the policy: to the edge of the clip, and a little beyond by momentum."""
    edge = 0.5 * float(given.settings["clip_range"])
    wrong = (
        Wrong(FAR, "ratio-stays-one"), Wrong(FAR, "ratio-not-clipped"), Wrong(-edge - OVERSHOOT, REVERSED)
    )  # fmt: skip
    return (_moved(edge + OVERSHOOT, 0.15, wrong),)


def luck_questions(given: Given) -> tuple[Query, ...]:
    """Where one rollout in large steps ends: at the edge of the clip."""
    edge = 0.5 * float(given.settings["clip_range"])
    wrong = (
        Wrong(FAR, "surrogate-without-way-back"),
        Wrong(FAR, "ratio-stays-one"),
        Wrong(FAR, "ratio-not-clipped"),
        Wrong(-edge, REVERSED),
    )
    return (_moved(edge, 0.09, wrong),)


def _moved(truth: float, tolerance: float, wrong: tuple[Wrong, ...]) -> Query:
    return Query("move of pi(best|1)", "probability", truth, tolerance, wrong, ((1.0, ONE),), action=1, from_start=True)


def line_questions(_: Given) -> tuple[Query, ...]:
    """The greedy action."""
    wrong = (Wrong(-1.0, REVERSED),)
    # Half of the box: a policy with an entropy bonus stays below the edge.
    return (Query("action", "greedy", 1.0, 0.5, wrong, ((1.0, SEEN),), action=0),)


PROBE = Probe(
    code="P5",
    name="advantage-sign",
    title="the policy moves towards what pays",
    components=("advantage sign", "ratio direction", "actor update"),
    after=("P1",),
    cases=(
        Case("arms", ARMS, arm_questions, {"on-policy": 1920, "off-policy": 1500}, actions="discrete"),
        Case("q-of-arms", ARMS, q_questions, {"off-policy": 1500}, actions="discrete", methods=("q",)),
        Case("line", LINE, line_questions, {"on-policy": 3200, "off-policy": 2000}, actions="box"),
        Case(
            "clip",
            SHOWN_ARMS,
            clip_questions,
            {"on-policy": 64},
            actions="discrete",
            needs={"clip_range": 0.2, "n_epochs": EPOCHS, "learning_rate": RATE},
            hints={"on-policy": _one_rollout(64)},
            methods=("action_probabilities",),
            pace=SMALL_STEPS,
        ),
        Case(
            "luck",
            CHANCES,
            luck_questions,
            {"on-policy": 128},
            actions="discrete",
            needs={"clip_range": 0.2, "n_epochs": LARGE_EPOCHS, "learning_rate": RATE},
            hints={"on-policy": _one_rollout(128)},
            methods=("action_probabilities",),
            pace=LARGE_STEPS,
        ),
    ),
    documentation=__doc__,
    alias="ProbeEnv4",
    preflight=True,
)
