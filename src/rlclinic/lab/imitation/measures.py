"""What a diagnosis of imitation needs, once per round: agreement, shift, consistency, and what was forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from rlclinic.lab.imitation.aggregate import HELD_OUT, Aggregate
from rlclinic.lab.imitation.novice import Novice, distance
from rlclinic.lab.instruments.two_sample import two_sample
from rlclinic.lab.torchrl.spaces import Spaces
from rlclinic.model.lazy_dataclass import dataclass

Columns = dict[str, float]
HOME = "train/imitation"
# States that the two-sample test sees of each side, and of the own states those that the expert labels twice.
MOST_STATES, ASKED_TWICE = 1000, 100
# A state further away, in standard deviations of each dimension, is no neighbour; fewer pairs of them say nothing.
NEAR, FEWEST_NEIGHBOURS = 0.25, 50
# Steps of an episode that count as one; in env steps.
STRETCH = 50


@dataclass(frozen=True, slots=True, eq=False)
class Visited:
    """States that the novice visits when it acts alone, with what the expert would do there."""

    states: NDArray[Any]
    episodes: NDArray[np.int64]
    labels: NDArray[Any] | None
    """None where there is nobody to ask."""
    again: NDArray[Any] | None
    """Labels of the first states, asked for a second time."""


def measured(novice: Novice, data: Aggregate, round_: int, visited: Visited | None) -> Columns:
    """The row of one round. What cannot be known is left out."""
    rows = data.arrays()
    held = held_out(rows)
    losses = novice.losses(rows["states"], rows["labels"])
    apart = distance(novice.predict(rows["states"]), rows["labels"], novice.spaces)
    new = rows["rounds"] == rows["rounds"].max()
    columns = {
        f"{HOME}/loss": float(losses[~held].mean()),
        f"{HOME}/loss_held_out": _mean(losses[held]),
        f"{HOME}/loss_new": float(losses[new].mean()),
        f"{HOME}/loss_old": _mean(losses[~new]),
        f"{HOME}/disagreement_data": _mean(apart[held]),
        f"{HOME}/label_spread": _label_spread(rows, novice.spaces),
        f"{HOME}/data": float(len(data)),
        f"{HOME}/round": float(round_),
    }
    if visited is not None:
        columns |= _on_own_states(novice, rows, visited)
    return {name: value for name, value in columns.items() if np.isfinite(value)}


def held_out(rows: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Rows that are kept for judging: every tenth."""
    found: NDArray[np.bool_] = np.arange(len(rows["rounds"])) % HELD_OUT == HELD_OUT - 1
    return found


def _on_own_states(novice: Novice, rows: dict[str, NDArray[Any]], visited: Visited) -> Columns:
    columns: Columns = {f"{HOME}/shift": _shift(rows, visited)}
    if visited.labels is not None:
        apart = distance(novice.predict(visited.states), visited.labels, novice.spaces)
        columns[f"{HOME}/disagreement"] = float(apart.mean())
        columns[f"{HOME}/loss_own_states"] = float(novice.losses(visited.states, visited.labels).mean())
    if visited.labels is not None and visited.again is not None:
        first = visited.labels[: len(visited.again)]
        columns[f"{HOME}/inconsistency"] = float(distance(first, visited.again, novice.spaces).mean())
    return columns


def _shift(rows: dict[str, NDArray[Any]], visited: Visited) -> float:
    """How well a classifier tells the novice's own states from those it learned from: 0.5 is no shift."""
    known = _thinned(len(rows["rounds"]))
    own = _thinned(len(visited.states))
    states = np.concatenate([rows["states"][known], visited.states[own]]).astype(np.float64)
    first = _stretches(rows["episodes"])[known]
    episodes = np.concatenate([first, _stretches(visited.episodes)[own] + first.max() + 1])
    try:
        return two_sample(states, episodes, np.arange(len(states)) >= len(first), permutations=0).auc
    except ValueError:
        return float("nan")


def _stretches(episodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of the stretches that are compared as wholes: episodes, long ones cut, or a round would hold but one."""
    starts = np.flatnonzero(np.diff(episodes, prepend=episodes[0] - 1))
    place = np.arange(len(episodes)) - np.repeat(starts, np.diff(np.append(starts, len(episodes))))
    begins = (place % STRETCH) == 0
    found: NDArray[np.int64] = np.cumsum(begins) - 1
    return found


def _label_spread(rows: dict[str, NDArray[Any]], spaces: Spaces) -> float:
    """How far labels of neighbouring states of other stretches are apart, as a share of that of any two states.

    Neighbours that are labelled otherwise each time are told apart by something that the observation does not hold.
    """
    known = _thinned(len(rows["rounds"]))
    states, labels, parts = rows["states"][known], rows["labels"][known], _stretches(rows["episodes"])[known]
    spread = states.std(axis=0)
    scaled = states / np.where(spread > 0, spread, 1.0)
    # The nearest of each that lies in another stretch: the next step of the same one is always near.
    nearest, away = np.full(len(scaled), -1), np.full(len(scaled), np.inf)
    for part in np.unique(parts):
        own = parts == part
        if own.all():
            return float("nan")
        others = np.flatnonzero(~own)
        away[own], found = cKDTree(scaled[others]).query(scaled[own])
        nearest[own] = others[found]
    near = away <= NEAR * np.sqrt(scaled.shape[1])
    if near.sum() < FEWEST_NEIGHBOURS:
        return float("nan")
    apart = float(distance(labels[near], labels[nearest[near]], spaces).mean())
    shuffled = float(distance(labels, np.random.default_rng(0).permutation(labels), spaces).mean())
    return apart / shuffled if shuffled > 0 else 0.0


def _thinned(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count - 1, min(count, MOST_STATES)).astype(np.int64))


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else float("nan")


def visit(
    novice: Novice, environment: Any, answer: Callable[[Any], NDArray[Any]] | None, steps: int, seed: int
) -> Visited:
    """Let the novice act alone; each state is labelled where there is somebody to ask."""
    states: list[Any] = []
    episodes: list[int] = []
    labels: list[Any] = []
    again: list[Any] = []
    observation, _ = environment.reset(seed=seed)
    episode = 0
    for _ in range(steps):
        state = novice.spaces.encode([observation])[0]
        states.append(state)
        episodes.append(episode)
        if answer is not None:
            labels.append(answer(observation))
            if len(again) < ASKED_TWICE:
                again.append(answer(observation))
        action = novice.to_environment(novice.predict(state[None]))[0]
        observation, _, terminated, truncated, _ = environment.step(action)
        if terminated or truncated:
            observation, _ = environment.reset()
            episode += 1
    told = answer is not None
    return Visited(
        np.asarray(states),
        np.asarray(episodes, dtype=np.int64),
        np.asarray(labels) if told else None,
        np.asarray(again) if told else None,
    )
