"""What a probe is: a world, settings, and questions whose right and wrong answers are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from rlclinic.model.errors import RlclinicError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.oracle import STEPS
from rlclinic.probes.settings import Family, starting_values
from rlclinic.probes.world import Seen, World

GAMMA = 0.7
"""Every confusable value (gamma squared, 1 - gamma, 1, gamma cubed) is at least 0.19 away."""
Contract: TypeAlias = Callable[[Any, "Given"], Mapping[str, float]]
"""Examines an untrained trainer and returns what it measured."""
Hints: TypeAlias = Mapping[Family, Mapping[str, Any]]
"""Settings by family."""
How: TypeAlias = Literal[
    "value", "q", "probability", "greedy", "return", "temperature", "network_input", "logged", "ledger", "contract"
]


class CannotJudge(RlclinicError):  # noqa: N818 - reads as what it is
    """A probe has nothing to say for this trainer or these settings."""

    kind = "cannot-judge"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A wrong answer that has a name."""

    value: float
    fault: str


@dataclass(frozen=True, slots=True)
class Query:
    """One question: how it is read, the right answer, how far off is still right, and the wrong answers."""

    name: str
    how: How
    truth: float
    tolerance: float
    wrong: tuple[Wrong, ...] = ()
    terms: tuple[tuple[float, Seen], ...] = ()
    """For values: weights and observations. For the others: the observation, with weight 1."""
    action: Any = None
    """For q and probability the action; for greedy the component."""
    key: str = ""
    """For logged, ledger and contract: which number."""
    unit: float = 1.0
    """The reading is divided by this."""
    from_start: bool = False
    """The reading is how far it has moved since before the training."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a case is run with."""

    gamma: float
    family: Family
    world: World
    settings: Mapping[str, Any]

    @property
    def lam(self) -> float:
        """Lambda of the targets; off-policy targets have none."""
        return float(self.settings["gae_lambda"]) if self.family == "on-policy" else 0.0

    @property
    def rollout(self) -> int:
        """Steps per rollout; a replay is one long rollout, as long as the oracle simulates."""
        return int(self.settings["n_steps"]) if self.family == "on-policy" else STEPS

    @property
    def n_envs(self) -> int:
        """Environments side by side."""
        return int(self.settings["n_envs"])


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the policy is to move: momentum carries a wide network far beyond a clip that a narrow one stops at, so
    the learning rate is set by what one pass over the rollout does to this very trainer."""

    logits: float
    """Per pass."""
    starts: tuple[float, float] = (0.25, 0.7)
    """Probabilities of the paying arm before training that leave room for right and wrong answers."""


@dataclass(frozen=True, slots=True)
class Case:
    """One way to run a probe."""

    name: str
    world: World
    questions: Callable[[Given], tuple[Query, ...]]
    budget: Mapping[Family, int]
    """Environment steps by family; a family that is not named does not run the case."""
    actions: Literal["any", "discrete", "box", "multi"] = "any"
    """`any`: the reward ignores the action, so the trainer's own kind is taken."""
    needs: Mapping[str, Any] = field(default_factory=dict)
    """Settings without which the case says nothing."""
    hints: Hints = field(default_factory=dict)
    """Settings that make it fast; left out where a trainer does not have them."""
    methods: tuple[str, ...] = ()
    """What the trainer must offer; `a|b` is either."""
    contract: Contract | None = None
    gamma: float | None = None
    """Fixed by the case; else the user's."""
    pace: Pace | None = None
    """Where the distance that the policy moves is what is asked for."""

    def settings(self, family: Family) -> dict[str, Any]:
        """All settings of the case."""
        return {**starting_values(family), **self.hints.get(family, {}), **self.needs}


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe of the ladder."""

    code: str
    name: str
    title: str
    components: tuple[str, ...]
    """What it isolates, in the words of faults.toml."""
    after: tuple[str, ...]
    """Probes that should pass first."""
    cases: tuple[Case, ...]
    documentation: str
    alias: str = ""
    """The name it had in the five-probe suite."""
    preflight: bool = False
    exact: bool = False
    """Nothing is learned: one seed decides."""
