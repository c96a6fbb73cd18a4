"""One state of an environment several times over: by deep copies, or by playing the same steps from the same seed.

Copies share their chance or get chance of their own. So an effect of the action is told from luck, and noise from
dynamics.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from rlclinic.environment.chance import global_chance, set_chance
from rlclinic.environment.make import Make
from rlclinic.environment.play import StepFailed, reset, step
from rlclinic.lab.instruments.flatten import Flatten
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray

TOLERANCE = 1e-5
"""Relative difference of observations that physics engines may show between equal steps."""
TRIED = 25
"""Steps over which a copy must agree with its original before copies are believed."""


@dataclass(frozen=True, slots=True)
class State:
    """A state to go on from: the seed of its episode and the actions that led there."""

    seed: int
    actions: tuple[Any, ...]


class Simulator:
    """Gives environments that stand in a certain state."""

    def __init__(self, make: Make, see: Flatten, *, reproducible: bool) -> None:
        self._make, self._see = make, see
        self._originals: dict[int, tuple[int, Any]] = {}
        self._fresh: list[Any] = []
        self.mode = "copy" if self._copies() else "replay" if reproducible else ""
        """`copy`, `replay`, or empty where no state can be had twice."""

    def at(self, state: State, count: int) -> list[Any]:
        """So many environments in the state."""
        if self.mode == "copy":
            original = self._played(self._borrowed(0), state)
            return [copy.deepcopy(original) for _ in range(count)]
        return [self._played(self._borrowed(place), state) for place in range(count)]

    def close(self) -> None:
        """Close what was made."""
        for environment in self._fresh:
            environment.close()

    def _borrowed(self, place: int) -> Any:
        while len(self._fresh) <= place:
            self._fresh.append(self._make())
        return self._fresh[place]

    def _played(self, environment: Any, state: State) -> Any:
        set_chance(environment, state.seed)
        reset(environment, state.seed)
        for action in state.actions:
            step(environment, action)
        return environment

    def _copies(self) -> bool:
        """Whether a deep copy goes on exactly as its original does."""
        environment = self._borrowed(0)
        try:
            reset(environment, 11)
            # The environment may draw from its own space.
            space = copy.deepcopy(environment.action_space)
            space.seed(11)
            environment.action_space.seed(11)
            other = copy.deepcopy(environment)
            for place in range(TRIED):
                action = space.sample()
                global_chance(place)
                one = step(environment, action)
                global_chance(place)
                two = step(other, action)
                if not same(self._see(one[0]), self._see(two[0])) or one[1:4] != two[1:4]:
                    return False
                if one[2] or one[3]:
                    break
        except StepFailed:
            return False
        except Exception:
            # Windows, sockets and simulators in C cannot be copied.
            return False
        return True


def same(a: FloatArray, b: FloatArray, tolerance: float = TOLERANCE) -> bool:
    """Whether two observations are the same up to rounding."""
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))
