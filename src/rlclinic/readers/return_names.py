"""Names that may say a return in home-made logs, whether columns of a table or words before a number."""

from __future__ import annotations

from functools import lru_cache

from rlclinic.readers.axes import plain
from rlclinic.readers.guess import OTHERWISE, REWARD, guess, is_cost
from rlclinic.readers.words import words
from rlclinic.reference.framework import framework

# Words that stand alone in home-made logs and mean the return of an episode, and what may be one where no other is.
PLAIN = frozenset(
    {"reward", "return", "score", "rewards", "avg", "average", "mean", "r", "j", "g", "ep_r", "rew", "fitness"}
)


@lru_cache(maxsize=512)
def is_return(name: str) -> bool:
    """Whether a name may say a return."""
    found = set(words(name))
    rewarded = bool(found & REWARD) and not found & OTHERWISE
    return " ".join(words(name)) in PLAIN or plain(name) in PLAIN or rewarded or is_cost(name) or is_sure_return(name)


@lru_cache(maxsize=512)
def is_sure_return(name: str) -> bool:
    """Whether a name says a return by more than a word that may mean anything."""
    if guess(name).startswith(("return/", "success_rate")):
        return True
    found = framework("common").metrics.find(name) or framework("common").metrics.find(plain(name))
    return found is not None and any(entry.name.startswith("return/") for entry in found[1])
