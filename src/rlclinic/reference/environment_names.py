"""Which well-known environment a name means: tolerant of versions, prefixes and run names, never of other tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.algorithms import algorithm_in

# Names that other simulators use for tasks with other rewards: they need a version to mean the well-known ones.
SHARED_NAMES = frozenset({"Ant", "Humanoid", "HalfCheetah", "Hopper", "Walker2d", "Swimmer", "Reacher", "Pusher"})
# Names of an emulator's variants that stand between the game and its version.
_VARIANT = r"(?:NoFrameskip|Deterministic|-ram|-ramNoFrameskip)?"
# A letter, digit or hyphen before the name makes it another task: MyHopper-v4, mo-hopper-v4, Isaac-Ant-v0.
_BEFORE = r"(?<![A-Za-z0-9-])"
_AFTER = r"(?![A-Za-z0-9])"
# The word joined to the version: CartPole-v1_2 and CartPole-v1-ppo are runs, CartPole-v1-sparse is another task.
_JOINED = re.compile(r"[-_]([A-Za-z0-9]+)")
_RUN_WORDS = frozenset({"seed", "run", "exp", "s", "best", "last"})
# What files and folders of a run are called besides the task.
_FILE_WORDS = _RUN_WORDS | {
    "log", "logs", "results", "result", "rewards", "reward", "returns", "scores", "score", "training", "train",
    "history", "metrics", "curve", "data", "output", "agent", "model", "final", "test", "eval", "gym", "env",
    "episode", "episodes", "csv", "txt", "json", "md", "out", "npy", "npz", "ipynb", "jsonl", "tsv", "learning",
    "rl", "deep", "q", "atari",
}  # fmt: skip


# Tasks that are so well known that a folder of their name, and nothing else but a run's, is of them.
_FOLDERS = {
    name.lower(): name
    for name in (
        "CartPole", "MountainCar", "MountainCarContinuous", "Pendulum", "Acrobot", "LunarLander", "BipedalWalker",
        "CarRacing", "FrozenLake", "CliffWalking", "Taxi", "BipedalWalkerHardcore", "Blackjack", "Breakout", "Pong",
        "SpaceInvaders", "Seaquest", "MsPacman", "BeamRider", "Qbert", "Enduro", "Freeway", "MontezumaRevenge",
        "InvertedPendulum", "InvertedDoublePendulum",
    )
}  # fmt: skip
_NUMBER = re.compile(r"v?\d+[kKmM]?")
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_/.-]{0,79}")
# Tasks of dm_control: walker_walk, dmc_cheetah_run, CartpoleSwingupSparse. A number after `run` makes it no task.
_CONTROL_SUITE = re.compile(
    r"(?:^|(?<=[^A-Za-z]))(?:acrobot|ball_in_cup|cartpole|cheetah|dog|finger|fish|hopper|humanoid|manipulator|pendulum"
    r"|point_mass|quadruped|reacher|stacker|swimmer|walker)[-_]?(?:balance|bring_ball|catch|easy|escape|fetch|hard|hop|"
    r"run(?![-_ ]?\d)|spin|stand|swim|swingup|trot|turn_easy|turn_hard|upright|walk)(?:[-_]?sparse)?(?![a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class EnvironmentName:
    """A recognised environment: its base name as the tables write it, and its version where one is named."""

    base: str
    version: int | None


def environment_name(text: str, known: Iterable[str]) -> EnvironmentName | None:
    """The known base name that `text` means. A name without a version counts only where it is the whole text."""
    bases = tuple(sorted(known, key=len, reverse=True))
    found = _versioned(bases).search(text)
    if found is not None:
        return None if _goes_on(text[found.end() :]) else EnvironmentName(found["base"], int(found["version"]))
    whole = _unversioned(bases).fullmatch(text.rsplit("/", 1)[-1].strip())
    if whole is None or whole["base"] in SHARED_NAMES:
        return None
    return EnvironmentName(whole["base"], None)


def is_plain_id(name: str) -> bool:
    """Whether a name that a run gives can be no more than a registered id: no code, no file, no option."""
    return _PLAIN_ID.fullmatch(name) is not None and not name.endswith((".yaml", ".yml", ".json"))


def environment_of_folder(name: str) -> str:
    """The task that a folder is named after: cart-pole, mountain_car_100K, HopperHop_baseline; empty if none."""
    words = [word for word in re.split(r"[^A-Za-z0-9]+", name) if word and not _NUMBER.fullmatch(word)]
    left = [word for word in words if word.lower() not in _FILE_WORDS and not algorithm_in(word)]
    found = _CONTROL_SUITE.search(name)
    return _FOLDERS.get("".join(left).lower()) or (found[0] if found else "")


def _goes_on(rest: str) -> bool:
    joined = _JOINED.match(rest)
    if joined is None:
        return False
    word = joined[1].lower().rstrip("0123456789")
    return bool(word) and word not in _RUN_WORDS and not algorithm_in(joined[1])


@cache
def _versioned(bases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"{_BEFORE}(?P<base>{_any_of(bases)}){_VARIANT}-v(?P<version>\d{{1,2}}){_AFTER}")


@cache
def _unversioned(bases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?P<base>{_any_of(bases)}){_VARIANT}")


def _any_of(bases: tuple[str, ...]) -> str:
    return "|".join(re.escape(base) for base in bases)
