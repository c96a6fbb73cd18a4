"""Episodes of a trained policy to look at: the best, the median and the worst, step by step."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.environment.child import in_child
from rlclinic.environment.play import Act, Recorder, play, recorder_of
from rlclinic.model.environment_facts import Episode

EPISODES = 10
MOST_SHOWN = 12
"""Steps of an episode that are told, evenly chosen."""
MOST_POINTS = 60
"""Of the course of the reward."""
LONGEST = 2000
PATIENCE = 120.0
"""Seconds after which playing is given up."""
SEED = 2_000_000


def play_run(path: Path, episodes: int = EPISODES) -> list[Episode]:
    """Play the policy of a run of `rlclinic train` in a process of its own; the best, the median and the worst."""
    doing = f"playing {episodes} episodes"
    rows = in_child(_rows, str(path), episodes, doing=doing, path=str(path), patience=PATIENCE)
    return [Episode(**row) for row in rows]


def _rows(path: str, episodes: int) -> list[dict[str, Any]]:
    return [asdict(one) for one in played(Path(path), episodes)]


def played(path: Path, episodes: int) -> list[Episode]:
    """Play in this process."""
    from rlclinic.environment.frames import strip_of
    from rlclinic.lab.environments import make_environment
    from rlclinic.lab.sb3.playing import policy_of

    recipe, policy = policy_of(path)
    environment = make_environment(recipe)
    record = recorder_of(environment)

    act = single(policy)
    results = [
        play(environment, act, record, seed=SEED + at, end=float("inf"), longest=LONGEST) for at in range(episodes)
    ]
    environment.close()
    drawn = replace(recipe, env_kwargs={**recipe.env_kwargs, "render_mode": "rgb_array"})
    draw = partial(make_environment, drawn)
    return [
        replace(episode, frames=strip_of(draw, act, SEED + at, episode.length))
        for episode, at in chosen(record, results, 0, "trained")
    ]


def chosen(record: Recorder, results: list[tuple[float, int]], start: int, policy: str) -> list[tuple[Episode, int]]:
    """The best, the median and the worst of episodes that were recorded from a row on, each with its number."""
    starts = start + np.cumsum([0, *(length for _, length in results)])
    ordered = sorted(range(len(results)), key=lambda at: results[at][0])
    places = {"best": ordered[-1], "median": ordered[len(ordered) // 2], "worst": ordered[0]}
    return [
        (_episode(label, policy, record, results[at][0], int(starts[at]), results[at][1]), at)
        for label, at in places.items()
    ]


def single(policy: Any) -> Act:
    """A policy for batches as one for single observations."""

    def act(observation: Any) -> Any:
        batch = (
            {key: np.asarray(value)[None] for key, value in observation.items()}
            if isinstance(observation, dict)
            else np.asarray(observation)[None]
        )
        return policy(batch)[0]

    return act


def _episode(label: str, policy: str, record: Recorder, total: float, start: int, length: int) -> Episode:
    rows, parts = record.rows[start : start + length], record.parts[start : start + length]
    names = list(dict.fromkeys(name for one in parts for name in one))
    shown = np.unique(np.linspace(0, length - 1, MOST_SHOWN).astype(int)).tolist()
    steps = tuple(
        {
            "step": at,
            "observation": [round(float(value), 4) for value in rows[at][0][:16]],
            "action": [round(float(value), 4) for value in rows[at][1][:16]],
            "reward": round(float(rows[at][2]), 6),
        }
        for at in shown
    )
    paid = {name: [one.get(name, 0.0) for one in parts] for name in names}
    sums = {name: np.cumsum(values) for name, values in {"reward": [row[2] for row in rows], **paid}.items()}
    points = np.unique(np.linspace(0, length - 1, MOST_POINTS).astype(int))
    course = {name: tuple(float(f"{value:.6g}") for value in values[points]) for name, values in sums.items()}
    components = {name: float(sums[name][-1]) for name in names}
    return Episode(label, float(total), length, bool(rows[-1][4]), components, steps, course, policy)
