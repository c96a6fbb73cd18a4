"""A tiny world as data: states with an observation, a reward, and where they lead.

The same description makes the environment that a trainer steps and the numbers that the oracle solves, so the two
cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from rlclinic.model.lazy_dataclass import dataclass

ActionKind: TypeAlias = Literal["discrete", "box", "multi"]
Seen: TypeAlias = tuple[float, ...]
"""An observation."""
Reward: TypeAlias = float | Callable[[Any], float]
"""A number, or what an action pays; the action is as the environment receives it, clipped to the box."""

END = ""
"""Where a state leads when the episode ends."""


@dataclass(frozen=True, slots=True)
class Actions:
    """An action space: `sizes` of the discrete heads, or the bounds of a box."""

    kind: ActionKind
    sizes: tuple[int, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


TWO_ARMS = Actions("discrete", (2,))
UNIT_BOX = Actions("box", low=(-1.0,), high=(1.0,))


@dataclass(frozen=True, slots=True)
class State:
    """One state: what it shows, what it pays, where it leads with which probability."""

    shows: Seen
    pays: Reward
    leads: tuple[tuple[float, str], ...] = ((1.0, END),)
    ends_by: Literal["terminated", "truncated", "both"] = "terminated"
    """`both`: the end coincides with the time limit."""
    finally_shows: tuple[tuple[float, Seen], ...] = ()
    """Observation after the last step; without it, what the state itself shows."""


@dataclass(frozen=True, slots=True)
class World:
    """States by name, where an episode starts, and the actions."""

    states: Mapping[str, State]
    starts: tuple[tuple[float, str], ...]
    actions: Actions = TWO_ARMS

    def __post_init__(self) -> None:
        for name, state in self.states.items():
            unknown = [target for _, target in state.leads if target != END and target not in self.states]
            if unknown:
                raise ValueError(f"state {name!r} leads to {unknown}, which do not exist")
            if abs(sum(chance for chance, _ in state.leads) - 1.0) > 1e-9:
                raise ValueError(f"the chances of leaving {name!r} do not sum to 1")

    @property
    def observations(self) -> tuple[Seen, ...]:
        """The distinct observations, in order of first appearance."""
        return tuple(dict.fromkeys(state.shows for state in self.states.values()))

    @property
    def by_chance(self) -> bool:
        """Does anything in it happen by chance?"""
        return len(self.starts) > 1 or any(len(state.leads) > 1 for state in self.states.values())

    def with_actions(self, actions: Actions) -> World:
        """The same world with another action space; only for worlds whose reward ignores the action."""
        return World(self.states, self.starts, actions)


def chain(*steps: tuple[Seen, float], starts: str = "0") -> World:
    """States 0, 1, ... one after the other, each with what it shows and pays; the last one terminates."""
    last = len(steps) - 1
    states = {
        str(index): State(shows, pays, ((1.0, END if index == last else str(index + 1)),))
        for index, (shows, pays) in enumerate(steps)
    }
    return World(states, ((1.0, starts),))
