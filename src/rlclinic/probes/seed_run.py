"""Run one case of a probe with one seed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any, Literal

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.definition import CannotJudge, Case, Given, Pace, Query
from rlclinic.probes.environment import Ledger, WorldEnv
from rlclinic.probes.reading import WrongShape, read
from rlclinic.probes.settings import Family
from rlclinic.probes.world import TWO_ARMS, UNIT_BOX, World
from rlclinic.readers.redaction.redact import redact

CHECKS = 20
"""Readings per budget."""
STEADY_CHECKS = 4
"""Readings in a row that must be right and steady before a seed stops early."""
EARLIEST = 0.25
"""Share of the budget before which no seed stops: a reading may pass through the truth on its way."""
SETTLED_CHECKS = 6
"""Readings in a row that must be steady before a seed stops early with a wrong answer."""
SETTLED_EARLIEST = 0.5
"""Share of the budget before which no seed stops with a wrong answer."""
LAST_CHECKS = 3
"""Readings whose median counts when the budget is used up."""
PACE_TRIES = 4
"""Trainers that are built to find the learning rate of a pace."""
STILL = 1e-9
"""Logits below which nothing moves at all, so that no learning rate helps."""
CERTAIN = 1e-6
"""Probabilities nearer to 0 and 1 are taken for this."""
MISUSED = 0.02
"""Share of steps after the end of an episode above which the environment counts as misused."""

ErrorKind = Literal["raised", "wrong-shape", "hung", "died", "environment-misused", "precondition", "cannot-judge"]


@dataclass(frozen=True, slots=True)
class Job:
    """One seed of one case, with the settings that the trainer knows."""

    code: str
    case: str
    seed: int
    gamma: float
    family: Family
    actions: str
    """Kind of action space for cases whose reward ignores the action."""
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What one seed read, or why it could not."""

    seed: int
    readings: Mapping[str, float]
    untrained: Mapping[str, float]
    passed: bool
    steps: int
    seconds: float
    early: bool = False
    fingerprint: str = ""
    """What the environments saw first; equal for all seeds when a trainer ignores its seed."""
    error: ErrorKind | None = None
    message: str = ""


def run_seed(
    case: Case, job: Job, make_trainer: Callable[..., Any], heartbeat: Callable[[int], None] = lambda _: None
) -> SeedResult:
    """Build, train in chunks, read after each, and stop when the answer is clear. Never raises."""
    started = time.monotonic()
    envs: list[WorldEnv] = []
    state = _Progress()
    try:
        given = given_of(case, job)
        queries = case.questions(given)
        settings = job.settings if case.pace is None else _paced(case.pace, queries[0], job, given, make_trainer)
        trainer = make_trainer(_env_fn(given.world, job.seed, envs), seed=job.seed, gamma=given.gamma, **settings)
        measured = dict(case.contract(trainer, given)) if case.contract else {}
        budget = case.budget[job.family]
        chunk = max(budget // CHECKS, 1)
        rollout = given.rollout * given.n_envs if job.family == "on-policy" else 1
        chunk = max(math.ceil(chunk / rollout), 1) * rollout
        state.check(queries, trainer, given, _ledgers(envs), measured)
        while state.steps < budget and not (state.steady(queries, budget) or state.settled(queries, budget)):
            trainer.train(min(chunk, budget - state.steps) if rollout == 1 else chunk)
            state.steps += chunk
            heartbeat(state.steps)
            state.check(queries, trainer, given, _ledgers(envs), measured)
        _preconditions(envs, given, budget)
    except CannotJudge as error:
        return _failed(job, state, started, "cannot-judge", error.message)
    except WrongShape as error:
        return _failed(job, state, started, "wrong-shape", str(error))
    except _Misused as error:
        return _failed(job, state, started, error.kind, str(error))
    except Exception as error:  # a stranger's trainer may raise anything
        return _failed(job, state, started, "raised", redact(f"{type(error).__name__}: {error}"))
    readings = state.final(queries)
    return SeedResult(
        seed=job.seed,
        readings=readings,
        untrained=state.history[0],
        passed=all(_right(query, readings) for query in queries if query.name in readings),
        steps=state.steps,
        seconds=time.monotonic() - started,
        early=state.steps < budget,
        fingerprint=_fingerprint(envs),
    )


def given_of(case: Case, job: Job) -> Given:
    """What the case is run with: its world in an action space that the trainer has."""
    world = case.world
    if case.actions == "any" and world.actions.kind != job.actions:
        world = world.with_actions(UNIT_BOX if job.actions == "box" else TWO_ARMS)
    settings = {**case.settings(job.family), **job.settings}
    return Given(case.gamma or job.gamma, job.family, world, settings)


def _paced(pace: Pace, query: Query, job: Job, given: Given, make_trainer: Callable[..., Any]) -> Mapping[str, Any]:
    """The settings with a learning rate at which one pass over the rollout moves the policy at the pace."""
    settings = {**job.settings, "n_epochs": 1}
    for _ in range(PACE_TRIES):
        env_fn = _env_fn(given.world, job.seed, [])
        trainer = make_trainer(env_fn, seed=job.seed, gamma=given.gamma, **settings)
        start = read(query, trainer, given, (), {})
        trainer.train(given.rollout * given.n_envs)
        end = read(query, trainer, given, (), {})
        if start is None or end is None:
            break
        if not pace.starts[0] <= start <= pace.starts[1]:
            raise _Misused("precondition", f"the untrained policy takes the paying arm with probability {start:.2f}")
        moved = abs(_logit(end) - _logit(start))
        if moved <= STILL or pace.logits / 2 <= moved <= 2 * pace.logits:
            break
        settings["learning_rate"] *= pace.logits / moved
    return {**settings, "n_epochs": job.settings["n_epochs"]}


def _logit(probability: float) -> float:
    kept = min(max(probability, CERTAIN), 1 - CERTAIN)
    return math.log(kept / (1 - kept))


class _Progress:
    """The readings so far."""

    def __init__(self) -> None:
        self.steps = 0
        self.history: list[dict[str, float]] = []
        self.first: dict[str, float] = {}

    def check(self, queries: Any, trainer: Any, given: Given, ledgers: Any, measured: Any) -> None:
        found = {query.name: read(query, trainer, given, ledgers, measured) for query in queries}
        row = {name: value for name, value in found.items() if value is not None}
        self.first = self.first or row
        moves = {query.name for query in queries if query.from_start}
        self.history.append({name: value - self.first[name] if name in moves else value for name, value in row.items()})

    def steady(self, queries: tuple[Query, ...], budget: int) -> bool:
        """All of the newest readings are right, and hardly move any more."""
        if self.steps < EARLIEST * budget or len(self.history) <= STEADY_CHECKS:
            return False
        recent = self.history[-STEADY_CHECKS:]
        for query in queries:
            values = [row[query.name] for row in recent if query.name in row]
            if len(values) < STEADY_CHECKS or not all(abs(v - query.truth) <= query.tolerance for v in values):
                return False
            # An exponential approach that moves less than half a tolerance in this time ends within it.
            if max(values) - min(values) > 0.5 * query.tolerance:
                return False
        return True

    def settled(self, queries: tuple[Query, ...], budget: int) -> bool:
        """A wrong answer that no longer moves. One that never moved may yet, so that one does not count."""
        if self.steps < SETTLED_EARLIEST * budget or len(self.history) <= SETTLED_CHECKS:
            return False
        recent, wrong = self.history[-SETTLED_CHECKS:], False
        for query in queries:
            values = [row[query.name] for row in recent if query.name in row]
            if len(values) < SETTLED_CHECKS or max(values) - min(values) > 0.5 * query.tolerance:
                return False
            if min(abs(value - query.truth) for value in values) > query.tolerance:
                left = (budget - self.steps) / self.steps * (len(self.history) - 1) / (SETTLED_CHECKS - 1)
                if _still_arriving(query, values, left):
                    return False
                wrong |= abs(values[-1] - self.history[0].get(query.name, query.truth)) > query.tolerance
        return wrong

    def final(self, queries: tuple[Query, ...]) -> dict[str, float]:
        """The median of the last readings."""
        recent = self.history[-LAST_CHECKS:] if len(self.history) > LAST_CHECKS else self.history[-1:]
        return {
            query.name: median(row[query.name] for row in recent if query.name in row)
            for query in queries
            if any(query.name in row for row in recent)
        }


def _still_arriving(query: Query, values: list[float], left: float) -> bool:
    """Would a reading be right at the end if it went on twice as fast? `left` is in units of the time of `values`."""
    towards = (values[-1] - values[0]) * math.copysign(1.0, query.truth - values[-1])
    return abs(query.truth - values[-1]) - query.tolerance <= 2 * towards * left


class _Misused(Exception):  # noqa: N818 - reads as what it is
    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind


def _preconditions(envs: list[WorldEnv], given: Given, budget: int) -> None:
    """The environments really ran what the probe assumes; anything else is an error, not a failure."""
    used = [env for env in envs if env.ledger.steps]
    if any(not env.unchanged() for env in envs):
        raise _Misused("environment-misused", "the trainer changed the environment's spaces")
    if not budget:
        return
    if not used:
        raise _Misused("precondition", "no environment of env_fn was ever stepped (or only a copy of it)")
    if len(used) < given.n_envs:
        raise _Misused("precondition", f"{len(used)} environment(s) were stepped where n_envs is {given.n_envs}")
    steps = sum(env.ledger.steps for env in used)
    beyond = sum(env.ledger.after_end for env in used)
    if beyond > MISUSED * steps:
        raise _Misused(
            "environment-misused", f"{beyond} of {steps} steps came after the end of an episode, without reset"
        )


def _env_fn(world: World, seed: int, envs: list[WorldEnv]) -> Callable[[], WorldEnv]:
    def env_fn() -> WorldEnv:
        env = WorldEnv(world, default_seed=1000 * seed + len(envs))
        envs.append(env)
        return env

    return env_fn


def _ledgers(envs: list[WorldEnv]) -> list[Ledger]:
    return [env.ledger for env in envs if env.ledger.steps]


def _right(query: Query, readings: Mapping[str, float]) -> bool:
    return abs(readings[query.name] - query.truth) <= query.tolerance


def _fingerprint(envs: list[WorldEnv]) -> str:
    return ";".join(
        ",".join([*(f"{action:.6g}" for action in env.ledger.actions[:64]), *env.ledger.starts[:64]])
        for env in envs
        if env.ledger.steps
    )


def _failed(job: Job, state: _Progress, started: float, kind: ErrorKind, message: str) -> SeedResult:
    first = state.history[0] if state.history else {}
    return SeedResult(
        job.seed, {}, first, passed=False, steps=state.steps, seconds=time.monotonic() - started, error=kind,
        message=message,
    )  # fmt: skip
