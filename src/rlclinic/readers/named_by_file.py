"""Numbers whose name is that of their file: `rewards.npy`, `scores.csv` without a header, exports of single tags."""

from __future__ import annotations

import re

from rlclinic.readers.guess import guess
from rlclinic.readers.words import words as words_of
from rlclinic.reference.algorithms import algorithm_in

# TensorBoard's download of one tag: run-PPO_1-tag-rollout_ep_rew_mean.csv. The slash of the tag became a line.
CURVE = frozenset({"learning", "curve"})
_TAG = re.compile(r".*-tag-(?P<tag>.+)")
_GROUPS = re.compile(r"(rollout|train|eval|charts|losses|time|env|test)_(?=.)")
# Words that say a return where they are all that a name says, and words that change nothing about that.
ALONE = frozenset({"reward", "rewards", "return", "returns", "score", "scores"})
FILLING = frozenset({"history", "list", "log", "all", "data", "curve", "per", "episode", "episodes", "ep", "training",
                     "train", "results", "array", "of", "the", "total", "agent", "seed", "run", "final"})  # fmt: skip


def tells_return(name: str) -> bool:
    """Whether a name, of a file or a list of numbers, says that these are returns."""
    words = {word for word in words_of(name) if not algorithm_in(word)}
    return guess(name).startswith("return/") or bool(words & ALONE and words <= ALONE | FILLING) or words == CURVE


def metric_of_file(name: str) -> str:
    """The metric that a file of this name holds where nothing inside says it; empty where the name does not either."""
    file = name.rpartition("/")[2]
    stem = file.rpartition(".")[0] or file
    tag = _TAG.fullmatch(stem)
    if tag is not None:
        return _GROUPS.sub(r"\1/", tag["tag"], count=1)
    return as_return(stem) if tells_return(stem) else ""


def as_return(name: str) -> str:
    """A name under which the tables find a return: the name itself where its words already say it."""
    spellings = (name, f"episode {name}", f"{name} return")
    return next((spelling for spelling in spellings if guess(spelling).startswith("return/")), "episode return")
