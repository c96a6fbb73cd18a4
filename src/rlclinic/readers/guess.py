"""Names that no table knows, guessed from their words. Only for home-made logs, and always said.

A guess never replaces a name that a table knows, and the user's `--map` always wins over it.
"""

from __future__ import annotations

import re

from rlclinic.readers.words import words as words_of

_AGENT = re.compile(r"(?:agent|player)[_ /-]{0,2}(\d{1,4})", re.IGNORECASE)
EVALUATION = frozenset({"eval", "evaluation", "test", "val", "valid", "validation"})
TRAINING = frozenset({"train", "training"})
EPISODE = frozenset({"episode", "episodes", "ep", "episodic", "eps", "rollout", "rollouts", "running", "env"})
AVERAGE = frozenset(
    {
        "mean",
        "avg",
        "average",
        "total",
        "sum",
        "cumulative",
        "cummulative",
        "accumulated",
        "accumulative",
        "last",
        "recent",
        "team",
    }
)
REWARD = frozenset({"reward", "rewards", "rew", "rews"})
RETURN = frozenset({"return", "returns", "ret", "score", "scores", "fitness", "profit"})
# Words that make a name mean something else than the level of a quantity.
OTHERWISE = frozenset(
    {
        "std", "var", "variance", "min", "max", "median", "best", "loss", "norm", "normalized", "scaled",
        "target", "component", "term", "bonus", "intrinsic", "shaped", "step", "steps", "per", "coef", "coeff",
        "coefficient", "weight", "rate", "error", "count", "num", "number", "time", "disc", "discriminator", "learned",
        "predicted", "pred", "irl", "gail", "airl", "curiosity", "rnd", "penalty", "shaping", "aux", "auxiliary",
        "proxy", "high", "f", "accuracy", "bleu", "rouge", "auc", "dice",
    }
)  # fmt: skip
PER_EPISODE = frozenset({"per"})
COST = frozenset({"cost", "costs"})
LENGTH = frozenset({"length", "len", "lengths"})
# A reward of the task itself, as opposed to a learned, shaped, normalised or intrinsic one.
TRUE = frozenset({"true", "groundtruth", "gt", "extrinsic", "unshaped", "unnormalized", "unnormalised", "original"})
# A game keeps its own score, whatever its agent is paid.
GAME, SCORE = frozenset({"game", "final"}), frozenset({"score", "scores"})
STEPWISE = frozenset({"action", "actions", "state", "observation", "next"})
TEACHER = frozenset({"distill", "distillation", "teacher", "opd"})


def guess(name: str) -> str:
    """The canonical metric that a name's words stand for; empty where they do not say."""
    words = _words(name)
    if words & {"loss"} and not words & REWARD:
        return _loss(words)
    if told := _of_tokens(words):
        return told
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
    side = "eval" if words & EVALUATION else "train"
    agent = _AGENT.search(name)
    if agent is not None and words & (REWARD | RETURN) and not words & OTHERWISE:
        return f"{'agent_return_eval' if side == 'eval' else 'agent_return'}/{agent[1]}"
    if words & {"winrate"} or (words & {"win", "won", "success"} and words & {"rate", "mean"}):
        return "success_rate/eval" if side == "eval" else "success_rate"
    if words & OTHERWISE - (PER_EPISODE if words & EPISODE else frozenset()):
        return ""
    if (
        words & RETURN
        or (words & {"eval", "evaluation"} and words <= EVALUATION | AVERAGE)
        or (words <= REWARD | EPISODE | AVERAGE | {"r"} and words & (REWARD | {"r"}))
        or (words & REWARD and words & (EPISODE | AVERAGE | TRAINING | EVALUATION))
    ):
        return f"return/{side}"
    if words & LENGTH and (words & EPISODE or side == "eval" or words <= LENGTH | AVERAGE):
        return "episode_length/eval" if side == "eval" else "episode_length"
    return ""


def true_return(name: str) -> str:
    """The return that a name means where its words say that it is the true one; empty where they do not."""
    words = _words(name)
    is_true = (words & TRUE and words & (REWARD | RETURN)) or (words & GAME and words & SCORE)
    if not is_true or words & OTHERWISE:
        return ""
    return "return/eval" if words & EVALUATION else "return/train"


def is_cost(name: str) -> bool:
    """Whether a name is of what an episode cost, all in all: where nothing is rewarded, less of it is better."""
    words = _words(name)
    whose = EPISODE | AVERAGE | TRAINING | EVALUATION
    return bool(words & COST and words & whose) and words <= COST | whose


def is_episode_count(name: str) -> bool:
    """Whether a name says how many episodes ended since the row before, as `n_episodes` does."""
    words = _words(name)
    return bool(words & {"n", "num", "number", "count"} and words & EPISODE) and len(words) == 2


def is_bare_average(name: str) -> bool:
    """Whether a name is nothing but an average: of what, its place tells."""
    words = _words(name)
    return bool(words & {"mean", "avg", "average"}) and words <= AVERAGE | EPISODE | {"moving", "rolling"}


def is_distance_from_equilibrium(name: str) -> bool:
    """Whether a name's words are those of what the best answer to a strategy would gain."""
    words = _words(name)
    return bool(words & {"exploitability", "nashconv"} or words >= {"nash", "conv"})


def is_distillation(name: str) -> bool:
    """Whether a name's words are those of a distance from a teacher."""
    words = _words(name)
    return bool(words & TEACHER and words & {"kl", "loss", "divergence"}) and not words & {"std", "max", "min", "coef"}


def _words(name: str) -> set[str]:
    return set(words_of(name))


def is_of_episodes(name: str) -> bool:
    """Whether a name says that it is what episodes came to, and nothing besides."""
    words = _words(name)
    return bool(words & EPISODE) and words <= EPISODE | AVERAGE | REWARD | RETURN


def is_of_a_step(name: str) -> bool:
    """Whether a name is of what stands beside every single step: what was done, and whether it was the last."""
    return set(words_of(name)) <= STEPWISE and bool(name)


def _of_tokens(words: set[str]) -> str:
    """What only a language model's training has: the length of answers, how many are cut, groups that agree."""
    if words & {"clipped", "truncated", "truncation", "cut"} and words & {"ratio", "rate", "fraction", "completions"}:
        return "truncated_fraction"
    if words >= {"zero"} and words & {"std", "var", "variance"}:
        return "zero_variance_groups"
    if words & {"completion", "response", "generation"} and words & (LENGTH | {"tokens"}) and not words & OTHERWISE:
        return "response_length"
    return ""


def _loss(words: set[str]) -> str:
    if words & {"policy", "actor", "act", "pi", "pg"}:
        return "policy_loss"
    if words & {"value", "critic", "vf", "q", "td"}:
        return "value_loss"
    return "loss" if words <= {"loss"} | AVERAGE | TRAINING else ""
