"""Memory, frame stack and several action heads.

What it does: (a) A cue of -1 or +1 is shown at the first of three steps only; the last step pays cue times action. (b)
The same with two steps and a stack of two frames. (c) Three action heads of 2, 3 and 4 values; the right value of each
pays 1, 2 and 4. (d) Two steps show the same, pay 0 and 1 and end by time limit; only a stack of two frames tells them
apart.
Right answer: (a, b) the action equals the cue: return 1. (c) return 7. (d) V = (2.33, 3.33).
Wrong answers: (a, b) 0: nothing is remembered. (c) 3, 5 or 6: a head is left out of the log-probability. (d) 1.87
(1.67 without lambda) for the second: frames of the last episode stay in the stack. (1.37, 1.96): the final observation
lacks its older frames.
Not measured: a hidden state that leaks into the next episode, because its cue overwrites it.
Isolates: hidden state, frame stack, action heads.
References: Ajax, memory cue; SB3 1.4.0 changelog (VecFrameStack).
"""

from __future__ import annotations

from typing import Any

from rlclinic.probes.definition import Case, Given, Hints, Probe, Query, Wrong
from rlclinic.probes.world import UNIT_BOX, Actions, State, World

CUES = (-1, 1)
SEEN = (0.0,)
RIGHT = (1, 2, 0)
PAYS = (1.0, 2.0, 4.0)


def _times(cue: int) -> Any:
    return lambda action: cue * float(action[0])


def _cued(blanks: int) -> World:
    """A cue, blank steps, and a last blank step that pays cue times action. Flag 1 marks the first step."""
    states: dict[str, State] = {}
    for cue in CUES:
        states[f"{cue:+d}"] = State((float(cue), 1.0), 0.0, ((1.0, f"{cue:+d}.1"),))
        for blank in range(1, blanks + 1):
            last = blank == blanks
            leads = ((1.0, "" if last else f"{cue:+d}.{blank + 1}"),)
            states[f"{cue:+d}.{blank}"] = State((0.0, 0.0), _times(cue) if last else 0.0, leads)
    return World(states, tuple((1 / len(CUES), f"{cue:+d}") for cue in CUES), UNIT_BOX)


def _heads(action: Any) -> float:
    return float(sum(pay for pay, right, chosen in zip(PAYS, RIGHT, action, strict=True) if chosen == right))


SAME = (1.0,)
FRAMES = World(
    {"first": State(SAME, 0.0, ((1.0, "second"),)), "second": State(SAME, 1.0, ends_by="truncated")},
    ((1.0, "first"),),
)
HEADS = World({"only": State(SEEN, _heads)}, ((1.0, "only"),), Actions("multi", (2, 3, 4)))


def cue_questions(_: Given) -> tuple[Query, ...]:
    """What the greedy policy earns per episode: the size of the remembered action."""
    return (Query("return", "return", 1.0, 0.4, (Wrong(0.0, "no-memory"), Wrong(-1.0, "advantage-reversed"))),)


def frame_questions(given: Given) -> tuple[Query, ...]:
    """V of both stacks, the newest frame last. Without its older frame the final observation is the first one."""
    gamma = given.gamma
    bare = 1 / (1 - gamma**2)
    # Frames that stay make both steps look alike; one value then fits the lambda targets of both.
    trace = gamma * given.lam
    leak = Wrong((1 + trace) / ((1 - gamma) * (2 + trace)), "frames-leak")
    return (
        Query("V(first)", "value", gamma / (1 - gamma), 0.4, (Wrong(gamma * bare, "final-frames-lost"),),
              ((1.0, (0.0, 1.0)),)),
        Query("V(second)", "value", 1 / (1 - gamma), 0.4, (leak, Wrong(bare, "final-frames-lost")),
              ((1.0, (1.0, 1.0)),)),
    )  # fmt: skip


def head_questions(_: Given) -> tuple[Query, ...]:
    """What the greedy policy earns."""
    total = sum(PAYS)
    wrong = tuple(Wrong(total - pay, "action-head-dropped") for pay in PAYS)
    return (Query("return", "return", total, 0.4, wrong),)


SHORT: Hints = {"on-policy": {"n_steps": 64, "batch_size": 64, "learning_rate": 1e-2}}
PROBE = Probe(
    code="P16",
    name="memory",
    title="hidden states, stacked frames and action heads",
    components=("hidden state", "frame stack", "action heads"),
    after=("P6",),
    cases=(
        Case(
            "cue",
            _cued(2),
            cue_questions,
            {"on-policy": 20_000, "off-policy": 10_000},
            actions="box",
            needs={"recurrent": True},
            methods=("begin_episode",),
            hints=SHORT,
        ),
        Case(
            "stack",
            _cued(1),
            cue_questions,
            {"on-policy": 16_000, "off-policy": 6000},
            actions="box",
            needs={"frame_stack": 2},
            methods=("begin_episode",),
            hints=SHORT,
        ),
        Case(
            "frames",
            FRAMES,
            frame_questions,
            {"on-policy": 5120, "off-policy": 3000},
            needs={"frame_stack": 2},
            methods=("value|q",),
        ),
        Case(
            "heads",
            HEADS,
            head_questions,
            {"on-policy": 12_000},
            actions="multi",
            hints={"on-policy": {"learning_rate": 1e-2}},
        ),
    ),
    documentation=__doc__,
)
