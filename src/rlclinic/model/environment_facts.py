"""What is measured about an environment, by examining it or by watching a training: numbers, no judgement.

A field that is None or NaN was not measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Literal

from rlclinic.model.lazy_dataclass import dataclass

Source = Literal["examined", "observed", "trace"]
NOT_MEASURED = math.nan
INFORMED = ("oracle", "trained", "best of random linear policies")
"""Policies of the panel that look at what they see."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong while the environment was tried."""

    kind: str
    """`raised`, `died`, `hung`, or `breaks-contract` where what it returns has the wrong form."""
    where: str
    """`make`, `reset`, `step`, ..."""
    message: str


@dataclass(frozen=True, slots=True)
class ObservationFacts:
    """Per number of the flattened observation, and over all."""

    kind: str
    names: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    histograms: tuple[tuple[float, ...], ...] = ()
    """Shares of ten equal bins from the least to the greatest value."""
    ranges: tuple[tuple[float, float], ...] = ()
    constant: tuple[int, ...] = ()
    """Numbers that never changed."""
    zero: tuple[int, ...] = ()
    """Of them those that are always 0 although their space has more."""
    duplicated: tuple[tuple[int, int], ...] = ()
    typical_size: float = NOT_MEASURED
    """Median over the numbers that change of their root mean square."""
    scale_ratio: float = NOT_MEASURED
    """Largest over smallest standard deviation of the numbers that change."""
    not_finite: int = 0
    outside: float = 0.0
    """Share of steps outside the space."""
    noise_share: float = NOT_MEASURED
    """Of the variance, what differs between copies of one state that go on alike: it is in the sensor alone."""
    noise_chance: float | None = None
    """Probability to see it in so many states if less than one in ten showed it."""
    repeated: float = NOT_MEASURED
    """Share of steps whose observation is exactly one of an earlier step of the episode, not the last."""
    explained: float = NOT_MEASURED
    """Share of the change of the observation that the present observation and action foretell."""
    explained_by_past: float = NOT_MEASURED
    """The same with the two steps before added."""
    action_lag: int | None = None
    """Steps from an action to its first effect on the observation."""
    hidden: float = NOT_MEASURED
    """Share of the steps at an observation and action known from another episode that ended or paid otherwise than
    there, where those known from their own episode never did: something that an episode keeps is not seen."""
    growth: float = NOT_MEASURED
    """With actions at rest: largest size late over early in the episode, in typical sizes."""


@dataclass(frozen=True, slots=True)
class Component:
    """One part of the reward."""

    name: str
    mean: float
    std: float
    share: float
    """Covariance with the reward over the variance of the reward: all shares sum to 1."""
    constant: bool


@dataclass(frozen=True, slots=True)
class RewardFacts:
    """Single rewards."""

    mean: float
    std: float
    low: float
    high: float
    distinct: int
    """Different values, counted up to 1000."""
    nonzero: float
    """Share of steps with a reward of more than 0.001 of the largest."""
    signal_to_noise: float
    """|mean| over standard deviation: the usual figure, which says little."""
    largest_correlation: float
    """Of any number of the observation with the reward: as usual, and as little."""
    at_edge: float = 0.0
    """Share of steps that pay exactly the least or the greatest reward, where all other rewards differ."""
    edge: float = NOT_MEASURED
    outliers: float = 0.0
    """Share of steps inside episodes whose reward lies far outside of all others."""
    outlier_size: float = NOT_MEASURED
    """Their distance in spreads of the others."""
    outliers_recur: float = NOT_MEASURED
    """Share that comes again from the same state and action with other chance."""
    not_finite: int = 0
    noise_share: float = NOT_MEASURED
    """Of the variance of rewards, what differs between copies of one state that go on alike."""
    noise_chance: float | None = None
    """As for the observation."""
    explained: float = NOT_MEASURED
    """Share of the variance that observation, action and next observation foretell."""
    by_action: float = NOT_MEASURED
    """Share that the action alone foretells."""
    same_action: float = NOT_MEASURED
    """Spread of the rewards of exactly one continuous action, relative to that of all."""
    at_end: float = NOT_MEASURED
    """Share of the sum of sizes that the last steps of episodes cut by a time limit pay."""
    first_zero: int = 0
    """Steps at the start of every episode that pay exactly 0, where nearly all later ones pay."""
    lag: int = 0
    """How many steps ago the transition was that foretells a reward best."""
    explained_at_lag: float = NOT_MEASURED
    effect_lag: int | None = None
    """Steps from an action to its first effect on a reward."""
    usual: float = NOT_MEASURED
    """Share of steps that pay the commonest reward."""
    cut_sum: str = ""
    """What of the sum of its components the reward is, where it is not that: `only the sign`."""
    distance: str = ""
    """What `info` calls a distance or an error from what is wanted."""
    pays_distance: float = NOT_MEASURED
    """Rank correlation of the reward with it, inside episodes."""
    by_last: float = NOT_MEASURED
    """Share of the variance that the reward of the step before foretells."""
    first_spread: float = NOT_MEASURED
    """Spread of the first rewards of episodes, relative to that of all."""
    positive: float = NOT_MEASURED
    """Share of the steps inside episodes that pay more than nothing."""
    goals: int = 0
    """Episodes whose end paid more than any step inside an episode."""
    forfeits: float = NOT_MEASURED
    """Share of them in which the steps before paid so much that going on like that would have been worth more."""
    goal_pays: float = NOT_MEASURED
    """What these ends paid, at the median."""
    loops: int = 0
    """Times that exactly one step was paid again in an episode after a way round that gained."""
    loop_worth: float = NOT_MEASURED
    """What going round like that pays, discounted, over the longest episode."""
    ending_worth: float = NOT_MEASURED
    """Share of all terminations that paid more than going on as usual would have."""
    pay_of_action: tuple[float, ...] = ()
    """Median reward of each discrete action."""
    pay_by_itself: float = NOT_MEASURED
    """Share of steps of the best-paid action that pay its median reward."""
    components: tuple[Component, ...] = ()
    components_sum: bool = False
    """Whether the components add up to the reward."""
    cancelling: tuple[str, ...] = ()
    """The two components that take back most of each other."""
    cancelled: float = NOT_MEASURED
    """Share of the variance of both that their sum has lost."""


@dataclass(frozen=True, slots=True)
class EpisodeFacts:
    """Episodes and their returns, under random actions or as they were trained with."""

    count: int
    terminated: int
    truncated: int
    mean_length: float
    """Under random actions, where these were played; NaN where no episode ended."""
    shortest: int
    longest: int
    at_longest: float
    """Share of episodes of exactly the greatest length."""
    terminated_at_longest: float
    """Share of these that were reported as terminated."""
    same_last: bool
    """Whether the episodes of the greatest length all ended at one observation."""
    truncated_lengths: int
    """Different lengths of truncated episodes."""
    truncated_before: float
    """Share of truncated episodes that ended before the greatest length."""
    limit: int | None
    """Steps after which the environment itself says that it cuts."""
    knows_time: bool
    """Whether a number of the observation tells the steps taken."""
    unended: int
    """Steps of the longest episode that had not ended when it was given up."""
    return_mean: float
    return_std: float
    return_low: float
    return_high: float
    distinct_returns: int
    discounted: float
    """Root mean square of the discounted return."""
    gamma: float
    length_correlation: float
    """Of return and length."""
    new_places: float = NOT_MEASURED
    """Share of the later half of the steps that came to a place where none of the earlier half was; of a discrete
    observation 0 if every state was reached, else not measured."""
    success_rate: float = NOT_MEASURED
    """Share of the episodes that `info` calls a success, of those of which it says so."""
    success_pays: float = NOT_MEASURED
    """Share of the pairs of a success and a failure in which the success returns more."""
    success_chance: float | None = None
    """Probability of so few pairs if successes and failures are paid alike."""
    restarts: float = NOT_MEASURED
    """Share of steps that jump back into the set of first observations without an end."""

    @property
    def chance_of_one_length(self) -> float:
        """Probability that so many episodes share the greatest length where lengths are spread over a quarter of it."""
        return min(4.0 / max(self.longest, 1), 1.0) ** (round(self.at_longest * self.count) - 1)


@dataclass(frozen=True, slots=True)
class ActionEffect:
    """What one dimension, or one choice, of the action does from the same state and with the same chance."""

    name: str
    observation: float
    """Median difference of the observation after some steps between both ends of the dimension, in spreads."""
    reward: float
    """The same of the sum of rewards."""
    touched: float
    """Share of states in which anything differed."""
    lasting: float = NOT_MEASURED
    """Share of states in which rewards differed after one step of it, when both took the same actions again."""
    inner: float = NOT_MEASURED
    """Share of states in which half of the range did exactly what the whole does, at both ends."""

    @property
    def changes_nothing_later(self) -> bool:
        """Whether the action was the whole matter: nothing was seen or paid otherwise after it."""
        return self.observation == 0.0 and self.lasting == 0.0


@dataclass(frozen=True, slots=True)
class ActionFacts:
    """The action space and what actions do."""

    kind: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    degenerate: tuple[int, ...] = ()
    """Dimensions whose low and high are the same."""
    effects: tuple[ActionEffect, ...] = ()
    states: int = 0
    """States from which effects were tried; 0 where they could not be."""
    gain: float = NOT_MEASURED
    """From recorded steps: how much of the change of the observation the action adds to what it foretells."""
    authority: float = NOT_MEASURED
    """Largest difference, in spreads, of a number or of the return between actions held for whole episodes from the
    same starts; infinite where an episode ended elsewhere."""
    gain_probability: float = NOT_MEASURED
    """Chance of such a gain if actions did nothing."""


@dataclass(frozen=True, slots=True)
class ResetFacts:
    """How episodes start, and what is left of the one before."""

    starts: int = 0
    """Different first observations from so many seeds."""
    seeds: int = 0
    unseeded_starts: int = 0
    """Different first observations from resets without a seed."""
    unseeded: int = 0
    copies_same: bool | None = None
    """Whether fresh copies that got no seed start alike, though seeds make starts differ."""
    reproducible: bool | None = None
    """Whether the same seed and actions give the same steps in two fresh copies."""
    departure: str = ""
    """What differed first: `start`, `observation`, `reward` or `end`."""
    carried_over: bool | None = None
    """Whether a used copy differs from a fresh one after a reset with the same seed, chance set aside."""
    carried: str = ""
    """What differed first then."""
    unseeded_chance: bool | None = None
    """Whether some of the chance does not come from the seed."""
    stale: float = NOT_MEASURED
    """Share of episodes that start at exactly the last observation of the one before."""
    leak: float = NOT_MEASURED
    """Largest correlation of a first observation with the last one before."""
    leak_probability: float = NOT_MEASURED
    same_starts: float = NOT_MEASURED
    """Share of first observations that several parallel copies have in common."""
    fixed_chance: str = ""
    """What reset seeds with the same number each time although it got no seed."""


@dataclass(frozen=True, slots=True)
class PolicyReturns:
    """A simple policy and what it earned."""

    name: str
    episodes: int
    mean: float
    low: float
    """Of the 95% interval of the mean."""
    high: float
    std: float
    length: float
    best: float
    task: float = NOT_MEASURED
    """How well the task was done by what `info` tells: share of successes, or else minus the last distance."""
    task_error: float = NOT_MEASURED


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode of a policy, to look at."""

    label: str
    """`best`, `median` or `worst`."""
    total: float
    length: int
    terminated: bool
    components: Mapping[str, float]
    """Sums over the episode."""
    steps: tuple[Mapping[str, Any], ...]
    """Some of them: step, observation, action and reward."""
    course: Mapping[str, tuple[float, ...]]
    """The reward and its components, summed up to some steps evenly over the episode."""
    policy: str = "trained"
    frames: tuple[str, ...] = ()
    """Pictures as PNG in base64, evenly over the episode."""


@dataclass(frozen=True, slots=True)
class SpeedFacts:
    """What steps cost."""

    steps_per_second: float
    reset_share: float
    """Of the time, what resets took."""
    make_seconds: float


@dataclass(frozen=True, slots=True)
class Shaping:
    """A component that is called a shaping term, tried as gamma * phi(s') - phi(s)."""

    component: str
    residual: float
    """What the nearest potential leaves of it on episodes left out, relative to how it varies."""
    gamma: float = NOT_MEASURED
    """Of the nearest potential, where no other comes as near."""


@dataclass(frozen=True, slots=True)
class Normaliser:
    """A wrapper that divides by running statistics."""

    of: str
    """`rewards` or `observations`."""
    wrapper: str


@dataclass(frozen=True, slots=True)
class EnvironmentFacts:
    """Everything that is measured about one environment."""

    source: Source
    environment: str
    steps: int = 0
    observed: int = 0
    """Steps of a training that was watched, which an examination is joined with."""
    observation: ObservationFacts | None = None
    action: ActionFacts | None = None
    reward: RewardFacts | None = None
    shaping: Shaping | None = None
    episodes: EpisodeFacts | None = None
    reset: ResetFacts | None = None
    panel: tuple[PolicyReturns, ...] = ()
    shown: tuple[Episode, ...] = ()
    normalisers: tuple[Normaliser, ...] = ()
    others: int = 0
    """Agents beside the one that is followed, which act at random."""
    speed: SpeedFacts | None = None
    drift: float = NOT_MEASURED
    """How much worse what was learned of the early steps foretells the late ones, as a share of their variance."""
    drift_own: float = NOT_MEASURED
    """Share of it that the late steps foretell of themselves."""
    problems: tuple[Problem, ...] = ()
    skipped: tuple[str, ...] = ()
    """What was not measured, and why."""
    seconds: float = 0.0

    def policy(self, name: str) -> PolicyReturns | None:
        """A policy of the panel."""
        return next((one for one in self.panel if one.name == name), None)

    @property
    def unseen(self) -> tuple[str, ...]:
        """What simple policies cannot reach or tell, and the option that would look."""
        found = []
        if self.policy("trained") is None and self.source == "examined" and not self.observed:
            found.append(
                "What only a good policy visits, and whether one is paid for something else than the task, was not "
                "seen: examine again with --policy when one is trained."
            )
        if self.policy("oracle") is None:
            found.append(
                "Whether the task as it is meant pays best was not seen: --oracle plays a policy that does it."
            )
        return tuple(found)

    @property
    def learned_nothing(self) -> bool:
        """Whether the trained policy was played and earns no more than random actions."""
        chance, trained = self.policy("random"), self.policy("trained")
        return chance is not None and trained is not None and not trained.low > chance.high

    def to_json(self) -> dict[str, Any]:
        """As a plain object; numbers that are not finite are floats."""
        return {"schema": "rlclinic.environment/1", **asdict(self)}


_SECTIONS: Mapping[str, type] = {
    "observation": ObservationFacts, "action": ActionFacts, "reward": RewardFacts, "episodes": EpisodeFacts,
    "reset": ResetFacts, "shaping": Shaping, "speed": SpeedFacts,
}  # fmt: skip
_LISTS: Mapping[str, type] = {
    "panel": PolicyReturns, "problems": Problem, "effects": ActionEffect, "components": Component, "shown": Episode,
    "normalisers": Normaliser,
}  # fmt: skip


def facts_of_json(raw: Mapping[str, Any]) -> EnvironmentFacts:
    """The facts that `to_json` wrote; TypeError or ValueError where it did not."""
    return _built(EnvironmentFacts, raw)  # type: ignore[no-any-return]


def _built(kind: type, raw: Mapping[str, Any]) -> Any:
    known = {entry.name for entry in fields(kind)}
    values: dict[str, Any] = {}
    for name, value in raw.items():
        if name not in known:
            continue
        if name in _SECTIONS and isinstance(value, Mapping):
            values[name] = _built(_SECTIONS[name], value)
        elif name in _LISTS and isinstance(value, list | tuple):
            values[name] = tuple(_built(_LISTS[name], item) for item in value)
        else:
            values[name] = _frozen(value)
    return kind(**values)


def _frozen(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(value, value) if isinstance(value, str) else value
