"""Names that no table knows, guessed from their words. Only for home-made logs, and always said.

A guess never replaces a name that a table knows, and the user's `--map` always wins over it.
"""

from __future__ import annotations

import re

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+")

EVALUATION = frozenset({"eval", "evaluation", "test", "val", "valid", "validation"})
EPISODE = frozenset({"episode", "episodes", "ep", "episodic", "eps", "rollout", "rollouts", "running", "env"})
AVERAGE = frozenset({"mean", "avg", "average", "total", "sum", "cumulative", "last", "recent"})
REWARD = frozenset({"reward", "rewards", "rew", "rews"})
RETURN = frozenset({"return", "returns", "ret", "score", "scores"})
# Words that make a name mean something else than the level of a quantity.
OTHERWISE = frozenset(
    {
        "std", "var", "variance", "min", "max", "median", "best", "loss", "norm", "normalized", "scaled",
        "target", "component", "term", "bonus", "intrinsic", "shaped", "step", "steps", "per", "coef", "coeff",
        "coefficient", "weight", "rate", "error", "count", "num", "number", "time",
    }
)  # fmt: skip
LENGTH = frozenset({"length", "len", "lengths"})


def guess(name: str) -> str:
    """The canonical metric that a name's words stand for; empty where they do not say."""
    words = set(_WORD.findall(_CAMEL.sub(" ", name).lower()))
    if words & {"loss"} and not words & REWARD:
        return _loss(words)
    if words >= {"entropy"} and not words & OTHERWISE:
        return "entropy"
    if words >= {"explained", "variance"}:
        return "explained_variance"
    if words & {"kl"} and not words & (OTHERWISE | {"ref", "penalty"}):
        return "approx_kl"
    if words & {"lr"} or words >= {"learning", "rate"}:
        return "learning_rate"
    if words & {"fps", "sps"}:
        return "fps"
    if words & {"grad", "gradient"} and words & {"norm"}:
        return "grad_norm"
    if words & OTHERWISE:
        return ""
    side = "eval" if words & EVALUATION else "train"
    if words & RETURN or (words & REWARD and words & (EPISODE | AVERAGE)):
        return f"return/{side}"
    if words & LENGTH and (words & EPISODE or side == "eval"):
        return "episode_length/eval" if side == "eval" else "episode_length"
    return ""


def _loss(words: set[str]) -> str:
    if words & {"policy", "actor", "pi", "pg"}:
        return "policy_loss"
    if words & {"value", "critic", "vf", "q", "td"}:
        return "value_loss"
    return ""
