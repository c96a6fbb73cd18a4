"""A `World` as a Gymnasium environment that keeps a ledger of what a trainer did to it."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.world import END, Actions, Seen, World

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise UsageError("probes need gymnasium", hint="pip install 'rlclinic[train]'") from error

OBSERVATION_BOUND = 2000.0
"""Beyond every observation of the ladder; finite, because some trainers refuse infinite boxes."""
SALT = 7919
"""Sets the world's random numbers apart from those of a trainer with the same seed."""
KEPT_ACTIONS = 4000
"""Actions that the ledger keeps of one environment."""


@dataclass(slots=True)
class Ledger:
    """What happened in one environment."""

    steps: int = 0
    terminated: int = 0
    truncated: int = 0
    returns: list[float] = field(default_factory=list)
    outside: int = 0
    """Actions that were outside the box."""
    starts: list[str] = field(default_factory=list)
    """Names of the start states, in order."""
    actions: list[float] = field(default_factory=list)
    """First component of each action."""
    after_end: int = 0
    """Steps after an episode had ended, without a reset."""


class WorldEnv(gymnasium.Env[npt.NDArray[np.float32], Any]):
    """Steps through a world. The world itself is frozen; whatever a trainer changes on the environment shows."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium's own type

    def __init__(self, world: World, default_seed: int) -> None:
        self.world = world
        self.ledger = Ledger()
        size = len(world.observations[0])
        self.observation_space = spaces.Box(-OBSERVATION_BOUND, OBSERVATION_BOUND, (size,), np.float32)
        self.action_space = _space(world.actions)
        self._default_seed: int | None = default_seed
        self._state = END
        self._return = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Start an episode. Without a seed the first reset takes one of the harness, so that a run can be repeated."""
        super().reset(seed=self._default_seed if seed is None else seed)
        if (first := self._default_seed if seed is None else seed) is not None:
            # A trainer may seed its own generator with the same number; its draws must not repeat the world's.
            self._np_random = np.random.default_rng([first, SALT])
        self._default_seed = None
        self._state = self._draw(self.world.starts)
        self._return = 0.0
        self.ledger.starts.append(self._state)
        return _array(self.world.states[self._state].shows), {}

    def step(self, action: Any) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """One step; the action is recorded as it came and clipped to the box before it is paid for."""
        ledger = self.ledger
        ledger.steps += 1
        if self._state == END:
            ledger.after_end += 1
            self._state = self._draw(self.world.starts)
        state = self.world.states[self._state]
        received = self._received(action)
        reward = state.pays(received) if callable(state.pays) else state.pays
        self._return += reward
        self._state = self._draw(state.leads)
        if self._state != END:
            return _array(self.world.states[self._state].shows), float(reward), False, False, {}
        terminated, truncated = state.ends_by != "truncated", state.ends_by != "terminated"
        ledger.terminated += terminated
        ledger.truncated += truncated
        ledger.returns.append(self._return)
        final = self._draw(state.finally_shows) if state.finally_shows else state.shows
        return _array(final), float(reward), terminated, truncated, {}

    def unchanged(self) -> bool:
        """Are the spaces still those of the world?"""
        size = len(self.world.observations[0])
        box = spaces.Box(-OBSERVATION_BOUND, OBSERVATION_BOUND, (size,), np.float32)
        return bool(self.action_space == _space(self.world.actions) and self.observation_space == box)

    def _received(self, action: Any) -> Any:
        ledger, actions = self.ledger, self.world.actions
        values = np.asarray(action, dtype=np.float64).reshape(-1)
        wanted = len(actions.low) if actions.kind == "box" else len(actions.sizes)
        if values.size != wanted:
            raise ValueError(f"an action has {wanted} component(s); the trainer sent shape {np.shape(action)}")
        if len(ledger.actions) < KEPT_ACTIONS:
            ledger.actions.append(float(values[0]))
        if actions.kind == "box":
            low, high = np.asarray(actions.low), np.asarray(actions.high)
            # Float32 rounding of a bound is not outside.
            slack = 1e-5 * (high - low)
            ledger.outside += bool(np.any((values < low - slack) | (values > high + slack)))
            return np.clip(values, low, high)
        if not all(-1 < value < size for value, size in zip(values.tolist(), actions.sizes, strict=True)):
            raise ValueError(f"the trainer sent action {action}, which is not in {self.action_space}")
        return values.astype(np.int64) if actions.kind == "multi" else int(values[0])

    def _draw(self, choices: tuple[tuple[float, Any], ...]) -> Any:
        if len(choices) == 1:
            return choices[0][1]
        point = self.np_random.random()
        for chance, item in choices:
            point -= chance
            if point < 0:
                return item
        return choices[-1][1]


def _array(seen: Seen) -> npt.NDArray[np.float32]:
    return np.asarray(seen, dtype=np.float32)


def _space(actions: Actions) -> Any:
    if actions.kind == "box":
        return spaces.Box(np.asarray(actions.low, np.float32), np.asarray(actions.high, np.float32), dtype=np.float32)
    return spaces.MultiDiscrete(actions.sizes) if actions.kind == "multi" else spaces.Discrete(actions.sizes[0])
