"""Examine a running environment: everything that is measured, tier by tier, within a budget of time."""

from __future__ import annotations

import copy
import itertools
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from rlclinic.environment.chance import set_chance
from rlclinic.environment.clones import Simulator, State
from rlclinic.environment.effects import STATES, Effects, Noise, effects_of, noise_of
from rlclinic.environment.episodes import chosen
from rlclinic.environment.frames import frames_of
from rlclinic.environment.make import Make
from rlclinic.environment.normalisers import without_statistics
from rlclinic.environment.other_kinds import FirstCopy
from rlclinic.environment.panel import EPISODES, OTHER, best_linear, played, policies_of, random_policy, returns_of
from rlclinic.environment.play import Act, Recorder, StepFailed, message_of, now, play, recorder_of, reset, step
from rlclinic.environment.resets import reset_facts
from rlclinic.facts.environment.episodes import episode_facts, start_facts, success_facts
from rlclinic.facts.environment.measure import action_facts
from rlclinic.facts.environment.observations import observation_facts
from rlclinic.facts.environment.rewards import outlier_rows, reward_facts
from rlclinic.facts.environment.shaping import shaping_facts
from rlclinic.model.environment_facts import (
    NOT_MEASURED,
    EnvironmentFacts,
    Episode,
    EpisodeFacts,
    ObservationFacts,
    PolicyReturns,
    Problem,
    ResetFacts,
    RewardFacts,
    SpeedFacts,
)
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import EpisodeTable, Space, Transitions

FEWEST_STEPS, MOST_STEPS = 4000, 20_000
"""Of random actions."""
MOST_PLAYED = 50_000
"""Steps until an end is looked for where none was seen."""
EPISODES_WANTED, MOST_EPISODES = 100, 400
ENOUGH_STEPS, ENOUGH_EPISODES = 200, 20
"""Of random actions, below which nothing is said."""
SEED = 77
OUTLIERS = 6
EARLY = 20
"""Steps of an episode in which a simulation that diverges has not yet."""
NOISE_STATES = 40
POLICY = "a policy takes one observation and returns one action of the environment"

Tell = Callable[[str, EnvironmentFacts], None]
"""Hears what is measured next, and what is known so far."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is examined beside the environment itself."""

    seconds: float = 40.0
    policies: tuple[tuple[str, Act], ...] = ()
    """`oracle`, `trained`: episodes of these join the panel."""
    components: Mapping[str, str] = field(default_factory=dict)
    """Where `info` tells the parts of the reward, by name."""
    rendering: Make | None = None
    """Makes an environment that renders, for pictures of the trained policy."""
    left: tuple[str, ...] = ()
    """What of the environment as it was trained in could not be rebuilt."""


def measure(make: Make, name: str, wanted: Wanted, tell: Tell) -> EnvironmentFacts:
    """All facts of an environment. What raises becomes a problem among them, and what was known before it is kept."""
    facts = EnvironmentFacts("examined", name)
    began = now()
    tell("make", facts)
    try:
        started = time.perf_counter()
        environment = make()
        seconds = time.perf_counter() - started
    except RlclinicError:
        raise
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{name} needs {error.name}, which is not installed", hint=f"pip install {error.name}"
        ) from error
    except Exception as error:
        # The environment is the user's: whatever it raises is what is found.
        return _failed(facts, Problem("raised", "make", message_of(error)), began)
    environment, normalisers = without_statistics(environment, observations=not wanted.policies)
    facts = replace(facts, normalisers=normalisers, others=getattr(environment, "others", 0))
    for name in ("observation_space", "action_space"):
        if not isinstance(space := getattr(environment, name, None), gymnasium.Space):
            told = f"{name} is {'missing' if space is None else f'no space but {type(space).__name__}'}"
            return _failed(facts, Problem("breaks-api", "make", told), began)
    # What is imported and loaded is no part of the budget.
    began = now()

    def bare() -> Any:
        return without_statistics(make(), observations=not wanted.policies)[0]

    examiner = _Examiner(bare, environment, wanted, facts, began, seconds, tell)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return examiner.run()
    except StepFailed as error:
        return _failed(examiner.known(), error.problem, began)
    finally:
        with suppress(Exception):
            environment.close()


def _failed(facts: EnvironmentFacts, problem: Problem, began: float) -> EnvironmentFacts:
    return replace(facts, problems=(*facts.problems, problem), seconds=now() - began)


class _Examiner:
    """The steps of one examination, in order."""

    def __init__(
        self,
        make: Make,
        environment: Any,
        wanted: Wanted,
        facts: EnvironmentFacts,
        began: float,
        cost: float,
        tell: Tell,
    ) -> None:
        self.make, self.env, self.wanted, self.facts = make, environment, wanted, facts
        # A space of our own: the environment may draw from its.
        self.space = copy.deepcopy(environment.action_space)
        self.began, self.make_seconds, self.tell = began, cost, tell
        self.random = recorder_of(environment, wanted.components)
        self.simple = recorder_of(environment, wanted.components)
        self.seeds: list[int] = []
        self.panel: list[PolicyReturns] = []
        self.authority = NOT_MEASURED
        self.shown: list[Episode] = []
        self.skipped = list(wanted.left)
        if facts.normalisers:
            named = ", ".join(dict.fromkeys(one.wrapper for one in facts.normalisers))
            self.skipped.append(f"{named}: running statistics, which change with use, were set aside")
        self.reset_facts = ResetFacts()
        self.limit: int | None = None
        """Steps after which an episode that seemed endless ended."""

    def until(self, share: float) -> float:
        """The moment at which this share of the budget is used."""
        return self.began + share * self.wanted.seconds

    def run(self) -> EnvironmentFacts:
        for doing, part in (("form", self._form), ("random actions", self._random), ("simple policies", self._simple)):
            self.tell(doing, self.facts)
            part()
        self.tell("resets", self.facts)
        starts = start_facts(self.random.table())
        if isinstance(self.env, FirstCopy):
            starts = replace(starts, same_starts=self.env.starts_alike(self.random.see))
        self.reset_facts = reset_facts(self.make, self.env, self.random.see, starts)
        self.tell("what the steps tell", self.facts)
        self.facts = self.known()
        if self.facts.reward is None:
            return replace(self.facts, seconds=now() - self.began)
        self.tell("effects of actions", self.facts)
        return replace(self._interventions(), seconds=now() - self.began)

    def known(self) -> EnvironmentFacts:
        """What follows from the steps played so far; of too few nothing does."""
        if self.random.steps < ENOUGH_STEPS and len(self.random.episodes) < ENOUGH_EPISODES:
            taken = self.random.steps
            few = f"{taken} steps were taken in the time there was: too few to judge by; raise --budget"
            cut = now() > self.until(0.3) or taken >= MOST_STEPS
            skipped = (*self.skipped, few) if cut else tuple(self.skipped)
            return replace(self.facts, steps=taken, skipped=skipped)
        steps, table = self.random.transitions(), self.random.table()
        every = _joined(steps, self.simple.transitions()) if self.simple.steps else steps
        if self.reset_facts == ResetFacts():
            self.reset_facts = start_facts(table)
        spent = self.random.step_seconds + self.random.reset_seconds
        return replace(
            self.facts,
            problems=tuple(dict.fromkeys((*self.facts.problems, *getattr(self.env, "problems", ())))),
            steps=len(every),
            observation=_observation(steps, every, self.facts.observation) if steps.observation_space.size else None,
            action=replace(action_facts(steps), authority=self.authority),
            reward=_reward(steps, every, table),
            shaping=shaping_facts(every),
            episodes=_episodes(self.env, steps, table, self.random, self.simple, self.limit),
            reset=self.reset_facts,
            panel=tuple(self.panel),
            shown=tuple(self.shown),
            speed=SpeedFacts(
                self.random.steps / max(spent, 1e-9), self.random.reset_seconds / max(spent, 1e-9), self.make_seconds
            ),
            skipped=tuple(self.skipped),
        )

    def _form(self) -> None:
        """Whether reset and step return what the spaces promise."""
        observation = reset(self.env, SEED)
        problems = [_form_problem(self.env.observation_space, observation, "reset")]
        self.space.seed(SEED)
        for _ in range(3):
            kept, told = observation, copy.deepcopy(observation)
            observation, _, terminated, truncated, _ = step(self.env, self.space.sample())
            problems.append(_reused(kept, told))
            problems.append(_form_problem(self.env.observation_space, observation, "step"))
            if terminated or truncated:
                observation = reset(self.env, SEED)
        found = dict.fromkeys(problem for problem in problems if problem is not None)
        self.facts = replace(self.facts, problems=tuple(found))

    def _random(self) -> None:
        space, results = self.space, []
        end = self.until(0.3)
        for at in range(MOST_EPISODES):
            enough = at >= EPISODES_WANTED and self.random.steps >= FEWEST_STEPS
            if enough or self.random.steps >= MOST_STEPS or (at and now() > end):
                break
            seed = SEED + at
            space.seed(seed + OTHER)
            # Most episodes start as in training, without a seed of their own.
            self.seeds.append(seed)
            results.append(play(self.env, random_policy(space), self.random, seed=seed, end=end))
        if not self.random.episodes:
            self.limit = _late_end(self.env, space, self.until(0.4))
        if len(results) < EPISODES_WANTED:
            reason = f"{MOST_STEPS:,} steps are enough" if self.random.steps >= MOST_STEPS else "no time left"
            self.skipped.append(f"{len(results)} of {EPISODES_WANTED} random episodes were played: {reason}")
        self.panel.append(returns_of("random", results, self.random))
        self.shown += [one for one, _ in chosen(self.random, results, 0, "random") if one.label == "median"]

    def _simple(self) -> None:
        end, env = self.until(0.55), self.env
        spread = self.random.transitions().observations.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        held: list[tuple[int, list[tuple[float, int]]]] = []
        for name, make in policies_of(self.space):
            if now() > end:
                self.skipped.append(f"the policy `{name}` and those after it were not played: no time left")
                break
            start = self.simple.steps
            results = played(env, make, self.simple, episodes=EPISODES, seed=SEED + 1000, end=end)
            held += [(start, results)] if name.startswith("always ") else []
            self.panel.append(returns_of(name, results, self.simple))
        self.authority = _authority(self.simple, held, spread, self.panel[0].std)
        best = best_linear(env, self.space, self.simple, spread, seed=SEED + 2000, end=self.until(0.6))
        if best is not None and best[1]:
            self.panel.append(returns_of("best of random linear policies", best[1], self.simple))
        for name, act in self.wanted.policies:
            start, seed = self.simple.steps, SEED + 3000
            guarded = _guarded(act, name, self.space)
            results = played(env, partial(_always, guarded), self.simple, episodes=20, seed=seed, end=self.until(0.75))
            self.panel.append(returns_of(name, results, self.simple))
            if name != "trained":
                continue
            for episode, at in chosen(self.simple, results, start, name):
                render = self.wanted.rendering
                frames = frames_of(render, act, seed + at, episode.length) if render is not None else ()
                self.shown.append(replace(episode, frames=frames))

    def _interventions(self) -> EnvironmentFacts:
        """Effects of actions and noise, from states that are had twice."""
        facts, see = self.facts, self.random.see
        simulator = Simulator(self.make, see, reproducible=bool(self.reset_facts.reproducible))
        if not simulator.mode:
            reason = "no state can be had twice: the environment can neither be copied nor replayed from a seed"
            return replace(facts, skipped=(*facts.skipped, f"effects of actions and noise: {reason}"))
        try:
            states, std = _states(self.env, self.space), _spreads(facts.observation)
            space, flat = self.space, self.random.action_space
            found = effects_of(simulator, states[:STATES], space, flat, see, std, self.until(0.85))
            self.tell("noise", facts)
            noise = noise_of(simulator, states, space, see, self.random.observation_space.size, self.until(0.95))
            recur = _recurrence(simulator, self.random, self.until(1.0))
        finally:
            simulator.close()
        return _with_interventions(facts, found, noise, recur)


def _authority(
    record: Recorder, held: list[tuple[int, list[tuple[float, int]]]], spread: FloatArray, usual: float
) -> float:
    """How far apart actions lead that are held for whole episodes, which started alike."""
    apart, rows = 0.0, record.rows
    for (one, first), (other, second) in itertools.combinations(held, 2):
        for (total, length), (total_too, length_too) in zip(first, second, strict=False):
            if length != length_too:
                return np.inf
            pairs = [(rows[one + at][3], rows[other + at][3]) for at in range(length)]
            seen = np.nan_to_num(np.array([np.abs(a - b) / spread for a, b in pairs]))
            apart = max(apart, float(seen.max(initial=0.0)), abs(total - total_too) / (usual or 1.0))
            one, other = one + length, other + length
    return apart if len(held) > 1 else NOT_MEASURED


def _always(act: Act, seed: int) -> Act:
    return act


def _guarded(act: Act, name: str, space: Any) -> Act:
    """The user's policy; what it raises, or returns that is no action, is told as its own fault."""

    def checked(observation: Any) -> Any:
        try:
            action = act(observation)
        except RlclinicError:
            raise
        except Exception as error:
            raise UsageError(f"the {name} policy raised {message_of(error)}", hint=POLICY) from error
        if np.shape(action) != (space.shape or ()) and not (space.shape == () and np.size(action) == 1):
            told = f"the {name} policy returned an action of shape {np.shape(action)}, the space has {space.shape}"
            raise UsageError(told, hint=POLICY)
        return action

    return checked


def _reused(kept: Any, told: Any) -> Problem | None:
    """Whether an observation that was returned became another one with the next step."""
    parts = [(kept[key], told[key]) for key in told] if isinstance(told, dict) else [(kept, told)]
    if all(
        np.array_equal(one, other, equal_nan=other.dtype.kind == "f")
        for one, other in parts
        if isinstance(other, np.ndarray)
    ):
        return None
    return Problem(
        "breaks-contract", "step", "the array of the observation before with other numbers in it, no new one"
    )


def _form_problem(space: Any, observation: Any, where: str) -> Problem | None:
    if type(space).__name__ != "Box":
        return None if space.contains(observation) else Problem("breaks-contract", where, f"a point outside {space}")
    shape = getattr(observation, "shape", None)
    if shape != space.shape:
        return Problem("breaks-contract", where, f"an observation of shape {shape} where the space has {space.shape}")
    if np.issubdtype(space.dtype, np.floating) != np.issubdtype(observation.dtype, np.floating):
        told = f"an observation of {observation.dtype} where the space has {space.dtype}"
        return Problem("breaks-contract", where, told)
    return None


def _joined(a: Transitions, b: Transitions) -> Transitions:
    def both(name: str) -> Any:
        return np.concatenate([getattr(a, name), getattr(b, name)])

    names = set(a.components) & set(b.components)
    return Transitions(
        a.observation_space, a.action_space, both("observations"), both("actions"), both("rewards"),
        both("next_observations"), both("terminated"), both("truncated"),
        np.concatenate([a.episodes, b.episodes + 100_000_000]), both("times"), both("copies"), both("clock"),
        {name: np.concatenate([a.components[name], b.components[name]]) for name in a.components if name in names},
        {name: np.concatenate([a.distances[name], b.distances[name]]) for name in a.distances if name in b.distances},
    )  # fmt: skip


def _observation(steps: Transitions, every: Transitions, before: ObservationFacts | None) -> ObservationFacts:
    """What random actions tell; what never changes must not change under any policy."""
    own, all_of = observation_facts(steps), replace(_shape_only(every))
    bad = ~np.isfinite(every.next_observations).all(axis=1) | ~np.isfinite(every.rewards)
    return replace(
        own,
        mean=all_of.mean,
        std=all_of.std,
        ranges=all_of.ranges,
        histograms=all_of.histograms,
        constant=all_of.constant,
        zero=all_of.zero,
        not_finite=int(bad.sum()),
        outside=_outside(every),
        growth=_growth(every),
        noise_share=before.noise_share if before else NOT_MEASURED,
    )


def _shape_only(every: Transitions) -> ObservationFacts:
    # Nothing is fitted to a few rows.
    return observation_facts(every.chosen(np.linspace(0, len(every) - 1, min(len(every), 6000)).astype(int)))


def _outside(steps: Transitions) -> float:
    space, seen = steps.observation_space, steps.next_observations
    slack = 1e-5 * np.maximum(np.abs(seen), 1.0)
    return float(((seen < space.low - slack) | (seen > space.high + slack)).any(axis=1).mean())


def _growth(steps: Transitions) -> float:
    """Largest size of any number over what it has early in an episode."""
    whole = np.isfinite(steps.next_observations).all(axis=1)
    size = np.abs(steps.next_observations[whole])
    if not len(size) or steps.observation_space.kind != "box":
        return NOT_MEASURED
    early = size[steps.times[whole] < EARLY]
    usual = np.quantile(early if len(early) else size, 0.9, axis=0)
    # A force that is nearly always 0 has no usual size of its own.
    usual = np.maximum(usual, max(float(np.median(usual)), 1e-3))
    return float((size.max(axis=0) / usual).max(initial=0.0))


def _reward(steps: Transitions, every: Transitions, table: EpisodeTable) -> RewardFacts:
    own, all_of = reward_facts(steps, table), reward_facts(every, table)
    return replace(
        all_of,
        signal_to_noise=own.signal_to_noise,
        largest_correlation=own.largest_correlation,
        outliers=own.outliers,
        outlier_size=own.outlier_size,
        explained=own.explained,
        lag=own.lag,
        explained_at_lag=own.explained_at_lag,
        first_zero=own.first_zero,
        first_spread=own.first_spread,
        by_last=own.by_last,
        pay_of_action=own.pay_of_action,
        pay_by_itself=own.pay_by_itself,
    )


def _late_end(env: Any, space: Any, end: float) -> int | None:
    """The length of an episode that is longer than those that are kept; None where there is no time to see its end."""
    reset(env, SEED)
    for length in range(1, MOST_PLAYED + 1):
        _, _, terminated, truncated, _ = step(env, space.sample())
        if terminated or truncated:
            return length
        if now() > end:
            break
    return None


def _episodes(
    env: Any, steps: Transitions, table: EpisodeTable, record: Recorder, simple: Recorder, limit: int | None
) -> EpisodeFacts:
    if getattr(env, "spec", None) is not None:
        limit = getattr(env.spec, "max_episode_steps", None) or limit
    own = episode_facts(steps, table, limit=limit, unended=record.unended)
    if not simple.episodes:
        return own
    both = Recorder(record.observation_space, record.action_space, record.see, record.do)
    both.episodes = [*record.episodes, *simple.episodes]
    every = episode_facts(steps, both.table(), limit=limit, unended=max(record.unended, simple.unended))
    rate, pays, chance = success_facts([*record.successes, *simple.successes])
    return replace(
        every,
        success_rate=rate,
        success_pays=pays,
        success_chance=chance,
        mean_length=own.mean_length,
        return_mean=own.return_mean,
        return_std=own.return_std,
        discounted=own.discounted,
        length_correlation=own.length_correlation,
        restarts=own.restarts,
    )


def _states(env: Any, space: Any) -> list[State]:
    """States along random episodes, near the start and later."""
    rng, states = np.random.default_rng(SEED), []
    for at in range(NOISE_STATES):
        seed, depth = SEED + 5000 + at, int(rng.integers(0, 25))
        space.seed(seed + OTHER)
        set_chance(env, seed)
        reset(env, seed)
        actions: list[Any] = []
        for _ in range(depth):
            action = space.sample()
            _, _, terminated, truncated, _ = step(env, action)
            if terminated or truncated:
                # The state before the end has nothing to go on to.
                actions = actions[: len(actions) // 2]
                break
            actions.append(action)
        states.append(State(seed, tuple(actions)))
    return states


def _spreads(observation: ObservationFacts | None) -> FloatArray:
    std = np.array(observation.std if observation else (1.0,))
    return np.where(std > 1e-9, std, 1.0)


def _recurrence(simulator: Simulator, record: Recorder, end: float) -> float:
    """Share of outlying rewards that come again from the same state and action with other chance."""
    steps = record.transitions()
    rows = outlier_rows(steps)[:OUTLIERS]
    again = tried = 0
    for row in rows:
        start = int(row) - int(steps.times[row])
        seed = SEED + int(steps.episodes[row])
        if now() > end or steps.times[row] > 300:
            continue
        actions = [_action(steps.action_space, values, simulator) for values in steps.actions[start : row + 1]]
        environment = simulator.at(State(seed, tuple(actions[:-1])), 1)[0]
        set_chance(environment, seed + 1)
        _, reward, *_ = step(environment, actions[-1])
        tried += 1
        again += abs(reward - steps.rewards[row]) < 0.5 * abs(steps.rewards[row] - np.median(steps.rewards))
    return again / tried if tried else NOT_MEASURED


def _action(space: Space, values: FloatArray, simulator: Simulator) -> Any:
    return int(values[0]) if space.kind == "discrete" else values.astype(np.float32)


def _with_interventions(facts: EnvironmentFacts, found: Effects, noise: Noise, recur: float) -> EnvironmentFacts:
    observation, reward, action = facts.observation, facts.reward, facts.action
    assert reward is not None
    assert action is not None
    if observation is not None:
        variance = np.array(observation.std) ** 2
        live = variance > 1e-12
        shares = noise.observation[live] / variance[live] if live.any() else np.zeros(1)
        observation = replace(
            observation,
            noise_share=float(np.mean(np.minimum(shares, 1.0))) if np.isfinite(shares).all() else NOT_MEASURED,
            noise_chance=noise.observation_chance,
            action_lag=found.observation_lag if found.observation_lag is not None else observation.action_lag,
        )
    return replace(
        facts,
        observation=observation,
        reward=replace(
            reward,
            noise_share=min(noise.reward / reward.std**2, 1.0) if reward.std > 0 else NOT_MEASURED,
            noise_chance=noise.reward_chance,
            effect_lag=found.reward_lag,
            outliers_recur=recur,
        ),
        action=replace(action, effects=found.effects, states=found.states),
    )
