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
    "rl", "deep", "q", "atari", "experiment", "experiments", "baseline", "version", "trial", "attempt",
}  # fmt: skip
LONGEST = 300
"""Characters at the end of a name that are searched for an id: a project may be called anything, a book too."""
# Gymnasium ids: CartPole-v1, ALE/Pong-v5, HalfCheetahBulletEnv-v0, halfcheetah-medium-replay-v0.
ENVIRONMENT_ID = re.compile(r"(?:[A-Z][A-Za-z]+/)?[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9.]+)*-v\d+")
# Ids without a capital are those of D4RL (task and data set), Fetch and Meta-World; others may be a user's own version.
_LOWER_ID = re.compile(
    r"(?:halfcheetah|hopper|walker2d|ant|maze2d|antmaze|pen|door|hammer|relocate|kitchen|flow|carla)-"
    r"(?:(?:random|medium|expert|human|cloned|complete|partial|mixed|open|umaze|large|full|lane|town|merge|ring)\b.*)"
    r"|(?:assembly|basketball|bin-picking|box-close|button-press|coffee|dial-turn|disassemble|door|drawer|faucet|fetch|hammer"
    r"|hand-insert|handle|lever-pull|peg|pick|plate-slide|push|reach|shelf-place|soccer|stick|sweep|window)(?:-[a-z]+)*"
)


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
_NUMBER = re.compile(r"v?\d+[kKmM]?|\d+x\d+")
# Size of a map at the end of a word: frozenlake4x4.
_SIZE = re.compile(r"(?<=[a-z])\d+x\d+$")
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
    if not bases:
        return None
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


def environment_id(name: str, known: Iterable[str]) -> str:
    """The id that a folder or project has in its name: ppo-CartPole-v1_2, hopper_v4; `exp-v3` is a run's, no task's."""
    name = name[-LONGEST:]
    spelled = _spelled(tuple(sorted(known, key=len, reverse=True))).search(name)
    if spelled is not None and all(map(_is_of_run, spelled["before"].split("-")[:-1])):
        base = re.sub(r"[-_ ]", "", spelled["base"]).lower()
        return f"{next(task for task in known if task.lower() == base)}-v{spelled['version']}"
    found = ENVIRONMENT_ID.search(name.replace("_", " "))
    if found is None:
        return ""
    namespace, slash, rest = found[0].rpartition("/")
    words, version = rest.split("-")[:-1], rest.rpartition("-")[2]
    while words and _is_of_run(words[0]):
        del words[0]
    base = "-".join(words)
    is_task = base != base.lower() or _LOWER_ID.fullmatch(base) is not None
    return f"{namespace}{slash}{base}-{version}" if is_task else ""


def environment_of_folder(name: str) -> str:
    """The task that a folder is named after: cart-pole, mountain_car_100K, HopperHop_baseline; empty if none."""
    words = [word for word in re.split(r"[^A-Za-z0-9]+", name) if word and not _NUMBER.fullmatch(word)]
    left = [_SIZE.sub("", word) for word in words if not _is_of_run(word)]
    found = _CONTROL_SUITE.search(name)
    return _FOLDERS.get("".join(left).lower()) or (found[0] if found else "")


def _is_of_run(word: str) -> bool:
    return word.lower() in _FILE_WORDS or bool(algorithm_in(word))


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


@cache
def _spelled(bases: tuple[str, ...]) -> re.Pattern[str]:
    """The bases in any case, their words joined in any way: half_cheetah_v4."""
    joined = "|".join(re.sub(r"(?<=[a-z])(?=[A-Z])", "[-_ ]?", base) for base in bases)
    before = r"(?<![A-Za-z0-9/-])(?P<before>(?:[A-Za-z0-9]{1,20}-){0,6})"
    return re.compile(rf"{before}(?P<base>{joined})[-_ ]?v(?P<version>\d{{1,2}}){_AFTER}", re.IGNORECASE)


def _any_of(bases: tuple[str, ...]) -> str:
    return "|".join(re.escape(base) for base in bases)
