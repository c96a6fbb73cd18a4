"""Examine a running environment: everything that is measured, tier by tier, within a budget of time."""

from __future__ import annotations

import copy
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
from rlclinic.environment.effects import STATES, effects_of, noise_of
from rlclinic.environment.episodes import chosen
from rlclinic.environment.frames import frames_of
from rlclinic.environment.make import Make
from rlclinic.environment.normalisers import without_statistics
from rlclinic.environment.other_kinds import FirstCopy
from rlclinic.environment.panel import EPISODES, OTHER, best_linear, played, policies_of, random_policy, returns_of
from rlclinic.environment.play import Act, StepFailed, message_of, now, play, recorder_of, reset, step
from rlclinic.environment.resets import reset_facts
from rlclinic.environment.summary import (
    SEED,
    authority_of,
    joined,
    of_episodes,
    of_observation,
    of_reward,
    recurrence,
    with_interventions,
)  # fmt: skip
from rlclinic.facts.environment.episodes import start_facts
from rlclinic.facts.environment.measure import action_facts
from rlclinic.facts.environment.shaping import shaping_facts
from rlclinic.model.environment_facts import (
    NOT_MEASURED,
    EnvironmentFacts,
    Episode,
    ObservationFacts,
    PolicyReturns,
    Problem,
    ResetFacts,
    SpeedFacts,
)
from rlclinic.model.errors import RlclinicError, UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray

FEWEST_STEPS, MOST_STEPS = 4000, 20_000
"""Of random actions."""
MOST_PLAYED = 50_000
"""Steps until an end is looked for where none was seen."""
EPISODES_WANTED, MOST_EPISODES = 100, 400
ENOUGH_STEPS, ENOUGH_EPISODES = 200, 20
"""Of random actions, below which nothing is said."""
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
        every = joined(steps, self.simple.transitions()) if self.simple.steps else steps
        if self.reset_facts == ResetFacts():
            self.reset_facts = start_facts(table)
        spent = self.random.step_seconds + self.random.reset_seconds
        return replace(
            self.facts,
            problems=tuple(dict.fromkeys((*self.facts.problems, *getattr(self.env, "problems", ())))),
            steps=len(every),
            observation=of_observation(steps, every, self.facts.observation) if steps.observation_space.size else None,
            action=replace(action_facts(steps), authority=self.authority),
            reward=of_reward(steps, every, table),
            shaping=shaping_facts(every),
            episodes=of_episodes(self.env, steps, table, self.random, self.simple, self.limit),
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
        self.authority = authority_of(self.simple, held, spread, self.panel[0].std)
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
            recur = recurrence(simulator, self.random, self.until(1.0))
        finally:
            simulator.close()
        return with_interventions(facts, found, noise, recur)


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
