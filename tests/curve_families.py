"""Random return curves of known shape, with the verdicts that any practitioner would give, in usual formats.

A simulated curve tests a signal, not a trainer: only its shape is known, so scale, sign, noise and number of points are
drawn at random and every run is written as a file and read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator

from rlclinic.model.series import FloatArray

Shape = Callable[[FloatArray, Generator], FloatArray]
EPISODE_STEPS = 200
WINDOW = 100
# Episodes from which on a mean over the last hundred is a curve and not a few of them.
EPISODES_OF_A_MEAN = 600


@dataclass(frozen=True, slots=True)
class Family:
    """A shape of the expected return over the run (time 0 to 1, level 0 to 1), and what may be said of it."""

    shape: Shape
    accepted: frozenset[str]
    noise: tuple[float, float] = (0.02, 0.25)
    """Standard deviation of a single point, as a share of the climb."""
    points: tuple[int, int] = (40, 3000)
    tail: float = 0.0
    """Degrees of freedom of Student's noise; 0 for a normal one."""
    is_success: bool = False
    """Whether the level is the chance of a success that pays 1, and nothing else pays."""
    is_windowed: bool = True
    """Whether it may be logged as a mean over past episodes."""
    memory: float = 0.0
    """Correlation of the noise of neighbours."""
    runs: int = 0
    """Runs that are tried, where it is not the usual number."""


def _saturating(time: FloatArray, rng: Generator) -> FloatArray:
    return np.asarray(1.0 - np.exp(-time / rng.uniform(0.04, 0.12)))


def _logistic(time: FloatArray, rng: Generator) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-(time - rng.uniform(0.2, 0.4)) / rng.uniform(0.02, 0.05))))


def _rising(time: FloatArray, rng: Generator) -> FloatArray:
    return np.asarray(time ** rng.uniform(0.7, 1.6))


def _late(time: FloatArray, rng: Generator) -> FloatArray:
    begins = rng.uniform(0.5, 0.7)
    return np.asarray(np.clip((time - begins) / (1.0 - begins), 0.0, 1.0))


def _lost(time: FloatArray, rng: Generator) -> FloatArray:
    peak, bottom = rng.uniform(0.3, 0.5), rng.uniform(0.65, 0.8)
    return np.asarray(np.interp(time, [0.0, peak, bottom, 1.0], [0.0, 1.0, 0.0, 0.0]))


def _regressed(time: FloatArray, rng: Generator) -> FloatArray:
    return np.asarray(np.interp(time, [0.0, rng.uniform(0.3, 0.5), 0.75, 1.0], [0.0, 1.0, 0.5, 0.45]))


def _declining(time: FloatArray, rng: Generator) -> FloatArray:
    return np.asarray(1.0 - time ** rng.uniform(0.6, 1.3))


def _dipped(time: FloatArray, rng: Generator) -> FloatArray:
    at = rng.uniform(0.45, 0.6)
    dip = 0.5 * np.exp(-(((time - at) / 0.03) ** 2))
    return np.asarray(time**0.8 - dip * at)


def _swinging(time: FloatArray, rng: Generator) -> FloatArray:
    swing = np.cos(2.0 * np.pi * rng.uniform(2.5, 4.5) * time + rng.uniform(0.0, 2.0))
    return np.asarray(0.5 + 0.5 * np.clip(time / 0.15, 0.0, 1.0) * swing)


def _flat(time: FloatArray, _: Generator) -> FloatArray:
    return np.zeros(time.size)


def _rare(time: FloatArray, rng: Generator) -> FloatArray:
    return np.full(time.size, rng.uniform(0.02, 0.1))


def _more_success(time: FloatArray, rng: Generator) -> FloatArray:
    return np.asarray(0.05 + rng.uniform(0.4, 0.7) * time)


def _all_success(time: FloatArray, rng: Generator) -> FloatArray:
    return np.asarray(np.clip(time / rng.uniform(0.3, 0.6), 0.02, 1.0))


LEARNING, PLATEAUED = frozenset({"learning"}), frozenset({"plateaued"})
LOST, NOT_LEARNING = frozenset({"collapsed", "unstable"}), frozenset({"not-learning"})
UNSURE = frozenset({"insufficient-data"})
FAMILIES: Mapping[str, Family] = {
    "rise": Family(_rising, LEARNING),
    "late rise": Family(_late, LEARNING),
    "rise and plateau": Family(_saturating, PLATEAUED),
    "slow start, rise and plateau": Family(_logistic, PLATEAUED),
    "rise and complete fall": Family(_lost, LOST),
    "rise and partial fall": Family(_regressed, LOST),
    "decline": Family(_declining, LOST | NOT_LEARNING),
    "one dip": Family(_dipped, LEARNING | PLATEAUED, is_windowed=False),
    "swings": Family(_swinging, LOST, is_windowed=False),
    "flat": Family(_flat, NOT_LEARNING, noise=(0.5, 1.0)),
    "flat, heavy-tailed": Family(_flat, NOT_LEARNING, noise=(0.5, 1.0), tail=2.5),
    "rise, heavy-tailed": Family(_rising, LEARNING, noise=(0.02, 0.12), tail=2.5),
    "rise and plateau, heavy-tailed": Family(_saturating, PLATEAUED, noise=(0.02, 0.12), points=(150, 3000), tail=2.5),
    "no more success": Family(_rare, NOT_LEARNING, points=(600, 3000), is_success=True),
    "more success": Family(_more_success, LEARNING, points=(600, 3000), is_success=True),
    "all success": Family(_all_success, frozenset({"solved"}), points=(600, 3000), is_success=True),
    "rise, few points": Family(_rising, LEARNING, noise=(0.0, 0.05), points=(8, 14)),
    "flat, few points": Family(_flat, NOT_LEARNING | UNSURE, noise=(0.5, 1.0), points=(3, 9)),
    "flat, slow noise": Family(
        _flat, NOT_LEARNING | LOST | UNSURE, noise=(0.5, 1.0), points=(100, 400), memory=0.8, is_windowed=False
    ),
    "rise, slow noise": Family(_rising, LEARNING, noise=(0.02, 0.1), points=(100, 400), memory=0.8, is_windowed=False),
    "rise, many points": Family(_rising, LEARNING, noise=(0.2, 1.0), points=(10_000, 20_000), runs=4),
    "flat, many points": Family(_flat, NOT_LEARNING, noise=(0.5, 1.0), points=(10_000, 20_000), runs=4),
}


def drawn(family: Family, rng: Generator) -> FloatArray:
    """The returns of single episodes, or of evaluations."""
    points = int(np.exp(rng.uniform(*np.log(family.points))))
    level = family.shape(np.linspace(0.0, 1.0, points), rng)
    if family.is_success:
        return (rng.random(points) < level).astype(float)
    noise = rng.standard_t(family.tail, points) if family.tail else rng.standard_normal(points)
    for i in range(1, points if family.memory else 0):
        noise[i] = family.memory * noise[i - 1] + np.sqrt(1.0 - family.memory**2) * noise[i]
    values = level + rng.uniform(*family.noise) * noise
    # Rewards, costs, and returns that cross zero; the climb is at least a third of the level.
    scale = 10.0 ** rng.uniform(-2.0, 4.0)
    return np.asarray(scale * (values + rng.choice([0.0, rng.uniform(0.0, 2.0), -rng.uniform(0.5, 3.0)])))


def write_csv(folder: Path, returns: FloatArray) -> Path:
    """A home-made csv."""
    path = folder / "log.csv"
    rows = (f"{EPISODE_STEPS * (i + 1)},{value:.9g}" for i, value in enumerate(returns.tolist()))
    path.write_text("\n".join(["timesteps,episode_reward", *rows]) + "\n", encoding="utf-8")
    return path


def write_monitor(folder: Path, returns: FloatArray) -> Path:
    """The file of Stable-Baselines3's Monitor."""
    rows = (f"{value:.9g},{EPISODE_STEPS},{0.1 * (i + 1):.6f}" for i, value in enumerate(returns.tolist()))
    head = '#{"t_start": 1700000000.0, "env_id": "Private-v0"}'
    (folder / "monitor.csv").write_text("\n".join([head, "r,l,t", *rows]) + "\n", encoding="utf-8")
    return folder


def write_console(folder: Path, returns: FloatArray) -> Path:
    """What a loop prints."""
    path = folder / "train.log"
    rows = (
        f"Episode {i + 1}: reward = {value:.6g}, steps = {EPISODE_STEPS}" for i, value in enumerate(returns.tolist())
    )
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_windowed(folder: Path, returns: FloatArray) -> Path:
    """The progress.csv of Stable-Baselines3: a mean over the last hundred episodes, after each rollout."""
    sums = np.cumsum(np.concatenate(([0.0], returns)))
    ends = np.unique(np.linspace(min(WINDOW, returns.size), returns.size, min(200, returns.size), dtype=int))
    means = [(sums[end] - sums[max(0, end - WINDOW)]) / min(end, WINDOW) for end in ends]
    rows = (f"{EPISODE_STEPS * end},{mean:.9g},{EPISODE_STEPS}" for end, mean in zip(ends.tolist(), means, strict=True))
    head = "time/total_timesteps,rollout/ep_rew_mean,rollout/ep_len_mean"
    (folder / "progress.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return folder


FORMATS: Mapping[str, Callable[[Path, FloatArray], Path]] = {
    "csv": write_csv,
    "monitor": write_monitor,
    "console": write_console,
    "windowed": write_windowed,
}
