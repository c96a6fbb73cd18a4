"""What a trainer must offer to be probed: one factory, two methods, and whatever else it has.

    def make_trainer(env_fn, *, seed, gamma, **settings): ...

`env_fn()` returns a fresh Gymnasium environment each time it is called. `settings` uses the names of settings.toml; a
name that the trainer does not have raises `UnknownSettings`, an action space that it cannot handle `UnsupportedSpace`.
The factory may carry an attribute `family` ("on-policy" or "off-policy"); without it, the settings it knows decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
Observation: TypeAlias = npt.NDArray[np.float32]
EnvFn: TypeAlias = Callable[[], Any]
"""Makes one Gymnasium environment."""

OPTIONAL_METHODS = (
    "value", "q", "action_probabilities", "temperature", "network_input", "logged",
    "begin_episode", "log_prob", "advantages", "log_ratio", "losses", "targets",
)  # fmt: skip
"""What a probe may ask for beyond `train` and `act`."""


class UnknownSettings(Exception):  # noqa: N818 - the name is part of the protocol
    """Raised by `make_trainer` for settings that the trainer does not have."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        super().__init__(self.names)

    def __str__(self) -> str:
        return "unknown settings: " + ", ".join(self.names)


class UnsupportedSpace(Exception):  # noqa: N818 - the name is part of the protocol
    """Raised by `make_trainer` when the environment's action space is not one that the trainer can act in."""


@runtime_checkable
class Trainer(Protocol):
    """The least a trainer offers. One observation comes in, one action goes out, as the environment receives it."""

    def train(self, env_steps: int) -> object:
        """Train for about so many further steps, counted over all environments."""

    def act(self, obs: Observation) -> Any:
        """The greedy action."""


class ValueTrainer(Trainer, Protocol):
    """Everything a trainer may offer on top; each method is optional by itself.

    With the setting `frame_stack`, `value` and `q` take the stacked frames, the newest last.
    """

    def value(self, obs: Observation) -> float:
        """The critic's V(obs), in units of the raw reward."""

    def q(self, obs: Observation, action: Any = None) -> Any:
        """Q(obs, action); for discrete actions without `action` the vector over all actions."""

    def action_probabilities(self, obs: Observation) -> Any:
        """The policy's probability of each discrete action."""

    def temperature(self) -> float:
        """SAC's alpha."""

    def network_input(self, obs: Observation) -> Any:
        """What the networks see for a raw observation."""

    def logged(self) -> Mapping[str, float]:
        """What the trainer reports: `return` and `length` of recent episodes, `env_steps`, `episodes`."""

    def begin_episode(self) -> None:
        """An evaluation episode begins: forget hidden states and stacked frames."""

    def log_prob(self, obs: Observation, actions: Any) -> Any:
        """Log-density of actions (as the environment receives them) at one observation."""

    def advantages(self, batch: Mapping[str, FloatArray]) -> Any:
        """Advantages of (steps, envs) arrays: rewards, values, next_values, terminated, truncated, and last_values."""

    def log_ratio(self, batch: Mapping[str, FloatArray]) -> Any:
        """log pi_new - log pi_old of actions sampled for `observations`, with no update in between."""

    def losses(self, batch: Mapping[str, FloatArray]) -> Mapping[str, Mapping[str, float]]:
        """Per loss term (`policy`, `value`) its `value` and its gradient norm on `actor`, `critic`, `shared`."""

    def targets(self) -> Mapping[str, float]:
        """One target update from online = 1, target = 0: `tau` as set, `slope` as measured, `shared` storage 0 or 1."""


class MakeTrainer(Protocol):
    """The factory."""

    def __call__(self, env_fn: EnvFn, *, seed: int, gamma: float, **settings: Any) -> Trainer:
        """A trainer, not yet trained."""
