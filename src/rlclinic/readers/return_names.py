"""What names of home-made logs mean, whether columns of a table or words before a number."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from rlclinic.readers.axes import counted, plain
from rlclinic.readers.guess import OTHERWISE, REWARD, guess, is_cost
from rlclinic.readers.words import words
from rlclinic.reference.framework import framework

# Words that stand alone in home-made logs and mean the return of an episode, and what may be one where no other is.
PLAIN = frozenset(
    {"reward", "return", "score", "rewards", "avg", "average", "mean", "r", "j", "g", "ep_r", "rew", "fitness"}
)

# What a training comes to, and what only an agent's training has besides.
OUTCOME = frozenset({"return/train", "return/eval", "loss", "policy_loss", "value_loss"})
LEARNT = frozenset({"policy_loss", "value_loss", "entropy", "approx_kl", "epsilon", "episode_length", "td_error",
                    "explained_variance", "success_rate", "grad_norm/policy"})  # fmt: skip
SETTING = frozenset({"coef", "coeff", "coefficient", "weight", "scale", "target", "decay", "start", "end",
                     "threshold", "clip", "limit"})  # fmt: skip
# Names in one row that no prose and no list of settings has.
FULL = 4


@lru_cache(maxsize=512)
def is_return(name: str) -> bool:
    """Whether a name may say a return."""
    found = set(words(name))
    rewarded = bool(found & REWARD) and not found & OTHERWISE
    return " ".join(words(name)) in PLAIN or plain(name) in PLAIN or rewarded or is_cost(name) or is_sure_return(name)


@lru_cache(maxsize=512)
def is_sure_return(name: str) -> bool:
    """Whether a name says a return by more than a word that may mean anything."""
    return guess(name).startswith(("return/", "success_rate")) or canonical(name).startswith("return/")


@lru_cache(maxsize=512)
def canonical(name: str) -> str:
    """The metric that a name means by the table or by its words; empty where they do not say."""
    found = framework("common").metrics.find(name) or framework("common").metrics.find(plain(name))
    return found[1][0].name if found is not None else guess(name)


def of_a_trainer(names: Iterable[str]) -> bool:
    """Whether names are those of an agent's training although none says a return."""
    return any(name in LEARNT or name.startswith("q/") for name in known(names))


def is_full(names: Collection[str]) -> bool:
    """Whether so many names are known together that only a trainer says them, once or often."""
    found, counts = known(names), any(map(counted, names))
    return len(found) + counts >= FULL and len(found & (LEARNT | OUTCOME)) > 1 and bool(found & OUTCOME)


def known(names: Iterable[str]) -> set[str]:
    """The metrics that names mean, without what is only a setting of one."""
    return {canonical(name) for name in names if not SETTING & set(words(name))} - {""}
