"""Fixed points of value estimators on a world, solved exactly.

Every target of a value estimator is affine in the value table: target = constant + coefficients x V. The learned
table is the one that equals the mean of its own targets per observation, so it solves a linear system. A fault
changes the stream of transitions or the recursion (`estimator_faults`), and the same solve gives the reading that
betrays it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.world import END, World

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

STEPS = 2400
"""Steps of a simulated stream per environment; divisible by rollouts of 6, 8, 16 and 32."""
RANDOM_STEPS = 24_000
"""The same for worlds with chance in them."""
FOREVER = 0.999
"""Stands for no discounting, where the fixed point would be infinite."""


@dataclass(frozen=True, slots=True)
class Estimator:
    """How targets are made: GAE returns over rollouts, or n-step targets from a replay."""

    gamma: float
    lam: float = 0.0
    rollout: int = 8
    n_envs: int = 1
    n_step: int = 0
    """Steps of the targets of a replay; 0: GAE returns."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Transitions in the shape (rollouts, steps, environments)."""

    seen: IntArray
    reward: FloatArray
    successor: IntArray
    """True successor, the final observation where an episode ends."""
    reset: IntArray
    """What comes after autoreset; the successor elsewhere."""
    terminated: FloatArray
    truncated: FloatArray


@dataclass(frozen=True, slots=True)
class Recursion:
    """What the backward pass uses, each in the stream's shape or a number."""

    seen: IntArray
    reward: FloatArray
    bootstrap: IntArray
    """Observation whose value is added."""
    keep: FloatArray
    """1 where the bootstrap counts."""
    trace: FloatArray
    """1 where the trace goes on to the next step."""
    gamma: float
    trace_decay: float
    forward: bool = False
    flattened: Literal["", "end to end", "interleaved"] = ""
    """How the environments are laid into one before the backward pass."""
    one_value: bool = False
    """All observations share the mean target (a broadcast loss)."""
    less_value: bool = False
    """Targets are advantages: the value itself is not added."""


_STREAMS: dict[tuple[str, int, int], Stream] = {}
Fault: TypeAlias = Callable[[Stream, Estimator], Recursion]


def exact_values(world: World, gamma: float) -> dict[str, float]:
    """V per state of a world whose reward ignores the action; truncation bootstraps from the state itself."""
    names = list(world.states)
    system, constant = np.eye(len(names)), np.zeros(len(names))
    for row, name in enumerate(names):
        state = world.states[name]
        if callable(state.pays):
            raise ValueError(f"the reward of {name!r} depends on the action")
        constant[row] = state.pays
        for chance, target in state.leads:
            if target != END:
                system[row, names.index(target)] -= gamma * chance
            elif state.ends_by == "truncated":
                system[row, row] -= gamma * chance
    return dict(zip(names, np.linalg.solve(system, constant).tolist(), strict=True))


def fixed_point(world: World, estimator: Estimator, fault: Fault | None = None) -> FloatArray:
    """The value per observation that the estimator converges to."""
    size = len(world.observations)
    recursion, constant, table = _targets(world, estimator, fault)
    if recursion.one_value:
        return np.full(size, constant.mean() / (1.0 - table.reshape(-1, size).sum(axis=1).mean()))
    return _solve(recursion.seen, constant, table)


def changes_targets(world: World, estimator: Estimator, other: Estimator, fault: Fault | None = None) -> bool:
    """Does a fault, or another estimator, change any target of a world? What pays by action pays at random."""
    sound, wrong = _targets(world, estimator, None), _targets(world, other, fault)
    if sound[0].seen.shape != wrong[0].seen.shape or (wrong[0].one_value and len(world.observations) > 1):
        return True
    pairs = ((sound[0].seen, wrong[0].seen), *zip(sound[1:], wrong[1:], strict=True))
    return any(not np.allclose(one, another) for one, another in pairs)


def advantages(recursion: Recursion, values: FloatArray) -> FloatArray:
    """The advantages of given values, in the shape (steps, environments) of the only rollout."""
    (steps, envs), laid = recursion.seen.shape[1:], recursion.flattened
    if laid:
        recursion = _flatten(recursion)
    constant, table = _lambda_targets(recursion, len(values))
    numbers = (constant + table @ values - values[recursion.seen])[0]
    shaped: FloatArray = numbers.reshape(envs, steps).T if laid == "end to end" else numbers.reshape(steps, envs)
    return shaped


def right(stream: Stream, estimator: Estimator) -> Recursion:
    """The faultless estimator."""
    ended = np.maximum(stream.terminated, stream.truncated)
    return Recursion(
        stream.seen, stream.reward, stream.successor, 1.0 - stream.terminated, 1.0 - ended,
        estimator.gamma, estimator.gamma * estimator.lam,
    )  # fmt: skip


def simulate(world: World, rollout: int, n_envs: int) -> Stream:
    """A long stream of transitions, cut into rollouts. The same world always gives the same stream."""
    key = (repr(world), rollout, n_envs)
    if key not in _STREAMS:
        _STREAMS[key] = _simulate(world, rollout, n_envs)
    return _STREAMS[key]


def _simulate(world: World, rollout: int, n_envs: int) -> Stream:
    rng = np.random.default_rng(0)
    index = {seen: place for place, seen in enumerate(world.observations)}
    total = (RANDOM_STEPS if world.by_chance else STEPS) // rollout * rollout
    columns = [_walk(world, index, rng, total) for _ in range(n_envs)]
    shape = (-1, rollout, n_envs)
    parts: list[npt.NDArray[Any]] = [
        np.stack([column[part] for column in columns], axis=1).reshape(shape) for part in range(6)
    ]
    seen, reward, successor, reset, terminated, truncated = parts
    return Stream(seen, reward, successor, reset, terminated.astype(np.float64), truncated.astype(np.float64))


def _walk(world: World, index: dict[Any, int], rng: Any, total: int) -> list[npt.NDArray[Any]]:
    def draw(choices: tuple[tuple[float, Any], ...]) -> Any:
        if len(choices) == 1:
            return choices[0][1]
        point = rng.random()
        for chance, item in choices:
            point -= chance
            if point < 0:
                return item
        return choices[-1][1]

    rows = []
    name = draw(world.starts)
    for _ in range(total):
        state = world.states[name]
        target = draw(state.leads)
        ended = target == END
        final = draw(state.finally_shows) if ended and state.finally_shows else state.shows
        name = draw(world.starts) if ended else target
        shown = index[world.states[name].shows]
        pays = rng.random() if callable(state.pays) else state.pays
        terminated, truncated = ended and state.ends_by != "truncated", ended and state.ends_by != "terminated"
        rows.append((index[state.shows], pays, index[final] if ended else shown, shown, terminated, truncated))
    return [np.asarray(column) for column in zip(*rows, strict=True)]


def _targets(world: World, estimator: Estimator, fault: Fault | None) -> tuple[Recursion, FloatArray, FloatArray]:
    """Constant and coefficients of every target, with the recursion that they come from."""
    recursion = (fault or right)(simulate(world, estimator.rollout, estimator.n_envs), estimator)
    if recursion.flattened:
        recursion = _flatten(recursion)
    size = len(world.observations)
    if estimator.n_step:
        return recursion, *_n_step_targets(recursion, estimator.n_step, size)
    return recursion, *_lambda_targets(recursion, size)


def _lambda_targets(recursion: Recursion, size: int) -> tuple[FloatArray, FloatArray]:
    """Constant and coefficients of every target."""
    one_hot = np.eye(size)
    delta_constant = recursion.reward
    delta_table = recursion.gamma * recursion.keep[..., None] * one_hot[recursion.bootstrap] - one_hot[recursion.seen]
    steps = recursion.seen.shape[1]
    constant, table = np.zeros_like(delta_constant), np.zeros_like(delta_table)
    order = range(steps) if recursion.forward else range(steps - 1, -1, -1)
    offset = -1 if recursion.forward else 1
    for step in order:
        constant[:, step], table[:, step] = delta_constant[:, step], delta_table[:, step]
        other = step + offset
        if 0 <= other < steps:
            # A forward scan asks whether the previous step ended, a backward one whether this one did.
            go_on = recursion.trace_decay * recursion.trace[:, other if recursion.forward else step]
            constant[:, step] += go_on * constant[:, other]
            table[:, step] += go_on[..., None] * table[:, other]
    return constant, table if recursion.less_value else table + one_hot[recursion.seen]


def _flatten(recursion: Recursion) -> Recursion:
    """All environments in one long rollout."""

    def flat(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        ordered = values.transpose(0, 2, 1) if recursion.flattened == "end to end" else values
        return ordered.reshape(values.shape[0], -1, 1)

    return replace(
        recursion,
        seen=flat(recursion.seen),
        reward=flat(recursion.reward),
        bootstrap=flat(recursion.bootstrap),
        keep=flat(recursion.keep),
        trace=flat(recursion.trace),
    )


def _n_step_targets(recursion: Recursion, n_step: int, size: int) -> tuple[FloatArray, FloatArray]:
    """Targets of a replay that draws every transition with its next n, cut where the trace is."""
    gamma, one_hot, shape = recursion.gamma, np.eye(size), recursion.reward.shape
    flat = [part.reshape(-1, shape[2]) for part in (recursion.reward, recursion.keep, recursion.trace)]
    bootstrap = recursion.bootstrap.reshape(-1, shape[2])
    reward, keep, trace = flat
    total = len(reward)
    constant, table = np.zeros_like(reward), np.zeros((*reward.shape, size))
    running = np.ones_like(reward)
    for ahead in range(n_step):
        rows = np.minimum(np.arange(total) + ahead, total - 1)
        constant += running * gamma**ahead * reward[rows]
        stops = 1.0 if ahead == n_step - 1 else 1.0 - trace[rows]
        table += (gamma ** (ahead + 1) * running * keep[rows] * stops)[..., None] * one_hot[bootstrap[rows]]
        running = running * trace[rows]
    return constant.reshape(shape), table.reshape(*shape, size)


def _solve(seen: IntArray, constant: FloatArray, table: FloatArray) -> FloatArray:
    size = table.shape[-1]
    places, flat = seen.reshape(-1), table.reshape(-1, size)
    counts = np.bincount(places, minlength=size).astype(np.float64)
    mean_constant = np.bincount(places, constant.reshape(-1), size) / counts
    mean_table = np.stack([np.bincount(places, flat[:, column], size) for column in range(size)], axis=1)
    return np.linalg.solve(np.eye(size) - mean_table / counts[:, None], mean_constant).astype(np.float64)
