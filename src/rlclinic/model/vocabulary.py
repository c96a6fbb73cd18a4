"""The canonical metrics: what each means, in which unit, and which algorithms have it.

Names are stable. A name that ends in `/*` is a family: `reward/*` holds one metric per reward component.
Every framework's own names are mapped to these in `reference/frameworks/*.toml`.
"""

from __future__ import annotations

import math
from typing import Literal

from rlclinic.model.lazy_dataclass import dataclass

Better = Literal["up", "down", ""]

# Families of algorithms. A metric lists the families that have it; `all` means every run.
FAMILIES: dict[str, frozenset[str]] = {
    "ppo": frozenset(
        {"PPO", "APPO", "MASKABLEPPO", "RECURRENTPPO", "PPG", "POCA", "GAIL", "MAPPO", "IPPO", "HAPPO", "AMP"}
    ),
    "actor-critic": frozenset({"A2C", "A3C", "IMPALA", "TRPO", "VPG", "ACKTR", "REINFORCE", "MM-RKHS", "ARS", "COMA"}),
    "q-learning": frozenset(
        {
            "DQN",
            "QRDQN",
            "RAINBOW",
            "C51",
            "IQN",
            "DISCRETEBCQ",
            "DISCRETECQL",
            "DISCRETESAC",
            "FQF",
            "R2D2",
            "Q-LEARNING",
            "SARSA",
            "QMIX",
            "VDN",
            "QPLEX",
            "QTRAN",
        }
    ),
    "continuous-q": frozenset(
        {
            "SAC",
            "DISCRETESAC",
            "TD3",
            "DDPG",
            "TQC",
            "CQL",
            "IQL",
            "AWAC",
            "BCQ",
            "TD3PLUSBC",
            "REDQ",
            "DROQ",
            "CROSSQ",
            "MADDPG",
        }
    ),
    "imitation": frozenset(
        {"BC", "FILTERED-BC", "DAGGER", "SAFE-DAGGER", "ENSEMBLE-DAGGER", "LAZY-DAGGER", "GATED-DAGGER"}
    ),
    "language-model": frozenset({"GRPO", "RLOO", "DAPO", "GSPO", "REINFORCE++", "REMAX"}),
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One canonical metric."""

    name: str
    title: str
    unit: str = ""
    better: Better = ""
    low: float = -math.inf
    high: float = math.inf
    families: tuple[str, ...] = ("all",)
    expected: bool = False
    """Whether a run of these families is expected to log it: its absence is worth saying."""
    note: str = ""


_PG = ("ppo", "actor-critic")
_Q = ("q-learning", "continuous-q")
_LM = ("language-model",)
_IM = ("imitation",)

METRICS: tuple[Metric, ...] = (
    Metric("return/train", "training return", "reward", "up", expected=True),
    Metric("return/eval", "evaluation return", "reward", "up", expected=True),
    Metric("return/train_std", "spread of the training return", "reward", low=0.0),
    Metric("return/train_max", "best training return of the interval", "reward", "up"),
    Metric("return/train_min", "worst training return of the interval", "reward", "up"),
    Metric("return/eval_std", "spread of the evaluation return", "reward", low=0.0),
    Metric("return/best", "best return so far", "reward", "up"),
    Metric("return/discounted", "discounted return", "reward", "up"),
    Metric("agent_return/*", "training return of one agent", "reward", "up"),
    Metric("agent_return_eval/*", "evaluation return of one agent", "reward", "up"),
    Metric("return/intrinsic", "intrinsic return", "reward"),
    Metric("reward/step", "reward per step", "reward"),
    Metric("reward/*", "reward component", "reward", note="one series per component"),
    Metric("episode_length", "episode length", "env steps", low=0.0, expected=True),
    Metric("episode_length/eval", "evaluation episode length", "env steps", low=0.0),
    Metric("learned_return", "return by a learned reward model", "return", "up"),
    Metric("success_rate", "training success rate", "share", "up", 0.0, 1.0),
    Metric("success_rate/eval", "evaluation success rate", "share", "up", 0.0, 1.0),
    Metric("episodes", "finished episodes", "episodes", low=0.0),
    Metric("vec_steps", "steps of each parallel environment so far", "vector steps", low=0.0),
    Metric("truncation_rate", "share of episodes cut by the time limit", "share", "", 0.0, 1.0),
    Metric("policy_loss", "policy loss", families=(*_PG, "continuous-q", *_LM), expected=True),
    Metric(
        "value_loss",
        "value or Q loss",
        low=0.0,
        families=(*_PG, *_Q),
        expected=True,
        note="the coefficient differs between frameworks: compare within a run only",
    ),
    Metric("loss", "total loss"),
    Metric(
        "entropy",
        "policy entropy",
        "nats",
        families=(*_PG, *_LM),
        expected=True,
        note="positive up; negative is legal for densities",
    ),
    Metric("approx_kl", "KL of one update", "nats", families=("ppo", "actor-critic", *_LM), expected=True),
    Metric("kl_k1", "KL of one update, k1 estimator", "nats", families=("ppo",), note="may be negative"),
    Metric("kl_coef", "KL coefficient", low=0.0),
    Metric("clip_fraction", "share of clipped ratios", "share", "", 0.0, 1.0, ("ppo", *_LM), expected=True),
    Metric("clip_fraction/value", "share of clipped values", "share", "", 0.0, 1.0, ("ppo",)),
    Metric("clip_range", "clip range in force", low=0.0, families=("ppo",)),
    Metric("clip_range/value", "value clip range in force", low=0.0, families=("ppo",)),
    Metric("importance_ratio", "mean importance ratio", low=0.0, families=("ppo", *_LM)),
    Metric("importance_ratio/max", "largest importance ratio", low=0.0, families=("ppo", *_LM)),
    Metric("effective_sample_size", "effective sample size", low=0.0, families=("ppo", *_LM)),
    Metric(
        "explained_variance",
        "explained variance of the critic",
        "share",
        "up",
        high=1.0,
        families=_PG,
        expected=True,
    ),
    Metric("value/mean", "mean value estimate", "reward", families=_PG),
    Metric("value/target", "mean value target", "reward"),
    Metric("advantage/mean", "mean advantage", families=(*_PG, *_LM)),
    Metric("advantage/std", "spread of the advantage", low=0.0, families=(*_PG, *_LM)),
    Metric("advantage/abs_max", "largest advantage", low=0.0, families=(*_PG, *_LM)),
    Metric("grad_norm", "gradient norm", low=0.0, expected=True, note="before clipping where the framework tells"),
    Metric("grad_norm/*", "gradient norm of one part", low=0.0),
    Metric("learning_rate", "learning rate in force", low=0.0, expected=True),
    Metric("learning_rate/critic", "learning rate of the critic", low=0.0),
    Metric("entropy_coef", "entropy coefficient in force", families=_PG),
    Metric("q/mean", "mean Q value", "reward", families=_Q, expected=True),
    Metric("q/max", "largest Q value", "reward", families=_Q),
    Metric("q/min", "smallest Q value", "reward", families=_Q),
    Metric("q/spread", "distance of twin Q values", "reward", low=0.0, families=("continuous-q",)),
    Metric("q1/mean", "mean of the first Q network", "reward", families=("continuous-q",)),
    Metric("q2/mean", "mean of the second Q network", "reward", families=("continuous-q",)),
    Metric("td_error", "temporal-difference error", families=_Q),
    Metric("alpha", "entropy temperature", low=0.0, families=("continuous-q",), expected=True),
    Metric("alpha_loss", "loss of the entropy temperature", families=("continuous-q",)),
    Metric("target_entropy", "target entropy", "nats", families=("continuous-q",)),
    Metric("action_std/mean", "mean action standard deviation", low=0.0),
    Metric("action_std/min", "smallest action standard deviation", low=0.0),
    Metric("epsilon", "exploration rate", "share", "", 0.0, 1.0, ("q-learning",), expected=True),
    Metric("dead_units", "share of dead units", "share", "", 0.0, 1.0),
    Metric("policy_lag", "age of the data in updates", "updates", low=0.0),
    Metric("updates", "gradient updates so far", "updates", low=0.0),
    Metric("fps", "env steps per second", "1/s", "up", low=0.0, expected=True),
    Metric("time/elapsed", "elapsed time", "s", low=0.0),
    Metric("observation/mean", "mean observation"),
    Metric("observation/std", "spread of the observations", low=0.0),
    Metric("curriculum/*", "curriculum level"),
    Metric("elo", "self-play rating", better="up"),
    Metric("mmd", "maximum mean discrepancy between old and new policy", low=0.0, families=("actor-critic",)),
    Metric("discriminator/*", "discriminator of an imitation learner"),
    Metric("imitation_loss", "loss against demonstrations", better="down"),
    Metric("return/expert", "mean return of the expert", "reward", families=_IM),
    Metric(
        "imitation/disagreement", "distance from the expert on own states", "", "down", 0.0, 1.0, _IM, expected=True
    ),
    Metric("imitation/disagreement_data", "distance from held-out labels", "", "down", 0.0, 1.0, _IM),
    Metric("imitation/inconsistency", "distance between two labels of one state", "", "down", 0.0, 1.0, _IM),
    Metric("imitation/label_spread", "spread of labels among neighbouring states", "share", "down", 0.0, families=_IM),
    Metric("imitation/data", "labelled states that are learned from", low=0.0, families=_IM),
    Metric("imitation/shift", "AUC between own and training states", "", "down", 0.0, 1.0, _IM, expected=True),
    Metric("imitation/loss_held_out", "loss on held-out labels", better="down", low=0.0, families=_IM),
    Metric("imitation/loss_new", "loss on the newest round", better="down", low=0.0, families=_IM),
    Metric("imitation/loss_old", "loss on earlier rounds", better="down", low=0.0, families=_IM),
    Metric("imitation/loss_own_states", "loss on own states", better="down", low=0.0, families=_IM),
    Metric("imitation/queries", "labels of the expert so far", low=0.0, families=_IM, expected=True),
    Metric("imitation/expert_control", "share of steps that the expert took", "share", "", 0.0, 1.0, _IM),
    Metric("imitation/beta", "share of expert control asked for", "share", "", 0.0, 1.0, _IM),
    Metric("imitation/updates", "gradient steps behind the weights", low=0.0, families=_IM),
    Metric("imitation/expert_gone", "step from which on the expert gave no label", "steps", low=0.0, families=_IM),
    Metric("offline/data", "steps that are learned from", low=0.0, families=_Q),
    Metric("offline/data_return", "mean return of the episodes in the data", "reward", families=_Q),
    Metric("offline/data_best", "mean return of the better half of the data", "reward", families=_Q),
    Metric("offline/data_value", "mean discounted return of the steps in the data", "reward", families=_Q),
    Metric("offline/value_low", "least value that the rewards in the data allow", "reward", families=_Q),
    Metric("offline/value_high", "largest value that the rewards in the data allow", "reward", families=_Q),
    Metric("offline/q_policy", "mean Q of the policy's actions in states of the data", "reward", families=_Q),
    Metric("offline/action_distance", "distance of the policy's actions from those in the data", "", "", 0.0, 1.0, _Q),
    Metric(
        "offline/actions_outside", "share of the policy's actions that the data do not show", "share", "", 0.0, 1.0, _Q
    ),
    Metric("offline/states_outside", "share of visited states that the data do not show", "share", "", 0.0, 1.0, _Q),
    Metric("offline/action_range", "share of the action range that the data use", "share", "", 0.0, 1.0, _Q),
    Metric("offline/cut_as_end", "share of episodes marked terminal at the time limit", "share", "", 0.0, 1.0, _Q),
    Metric("offline/td_error_held_out", "temporal-difference error on held-out episodes", low=0.0, families=_Q),
    Metric("offline/conservative_loss", "loss that keeps values low outside the data", families=_Q),
    # Language models
    Metric("reward/shaped", "reward after penalties", "reward", "up", families=_LM),
    Metric("reward/std", "spread of rewards within groups", low=0.0, families=_LM),
    Metric("reward_std/*", "spread of a reward component over the batch", "reward", low=0.0, families=_LM),
    Metric("reward_eval_std/*", "spread of such a part", "reward", low=0.0, families=_LM),
    Metric("reward_eval/*", "a part of the reward on held-out prompts", "reward", families=_LM),
    Metric("kl_ref", "KL to the reference model", "nats", families=_LM, expected=True),
    Metric("response_length", "response length", "tokens", low=0.0, families=_LM, expected=True),
    Metric("response_length/max", "longest response", "tokens", low=0.0, families=_LM),
    Metric("response_length/min", "shortest response", "tokens", low=0.0, families=_LM),
    Metric("prompt_length", "prompt length", "tokens", low=0.0, families=_LM),
    Metric(
        "truncated_fraction",
        "share of responses cut at the length cap",
        "share",
        "",
        0.0,
        1.0,
        _LM,
        expected=True,
    ),
    Metric("zero_variance_groups", "share of groups with equal rewards", "share", "", 0.0, 1.0, _LM),
    Metric("sampler_mismatch/*", "gap between sampler and trainer probabilities", families=_LM),
    Metric("turns", "turns per episode", families=_LM),
    Metric("valid_actions", "share of valid actions", "share", "up", 0.0, 1.0, _LM),
    Metric("finish_rate", "share of finished trajectories", "share", "up", 0.0, 1.0, _LM),
    Metric("format_failures", "share of responses in the wrong form", "share", "down", low=0.0, families=_LM),
    Metric("format_failures/*", "the same of one round of drafts", "share", "down", low=0.0, families=_LM),
    Metric("rollouts_lost", "rollouts that were thrown away", better="down", low=0.0, families=_LM),
    Metric("rollouts_lost/*", "the same for one reason", better="down", low=0.0, families=_LM),
    Metric("state_tokens", "share of tokens that the loss sees", "share", "", 0.0, 1.0, _LM),
    Metric("epoch", "passes through the prompts", low=0.0, families=_LM),
    Metric("tokens", "tokens so far", "tokens", low=0.0, families=_LM),
    Metric("loss/supervised", "supervised loss", better="down", note="a run with nothing else is not RL"),
)

_BY_NAME = {metric.name: metric for metric in METRICS}
_ORDER = {metric.name: position for position, metric in enumerate(METRICS)}


def metric(name: str) -> Metric | None:
    """The entry of a canonical name; members of a family share the family's entry."""
    exact = _BY_NAME.get(name)
    if exact is not None:
        return exact
    head, _, tail = name.partition("/")
    return _BY_NAME.get(f"{head}/*") if tail else None


def position(name: str) -> tuple[int, str]:
    """Where a metric stands in the vocabulary, for listing: known ones first, in the vocabulary's order."""
    entry = metric(name)
    return (_ORDER[entry.name] if entry else len(METRICS), name)


def has_metric(algorithm: str, name: str) -> bool:
    """Whether an algorithm has a metric; an unknown algorithm might have any."""
    entry, families = metric(name), families_of(algorithm)
    return entry is None or not families or "all" in entry.families or not families.isdisjoint(entry.families)


def steps_of(algorithm: str) -> str:
    """What the steps of a run are called: a language model has updates, and no environment that it steps."""
    return "steps" if "language-model" in families_of(algorithm) else "env steps"


def families_of(algorithm: str) -> frozenset[str]:
    """The families an algorithm belongs to; empty where the algorithm is not known."""
    name = algorithm.upper()
    return frozenset(family for family, members in FAMILIES.items() if name in members)


def expected_metrics(algorithm: str) -> tuple[Metric, ...]:
    """What a run of this algorithm is expected to log, in the order of the vocabulary."""
    families = families_of(algorithm)
    # Responses have a length of their own.
    absent = {"episode_length"} if "language-model" in families else set()
    return tuple(
        entry
        for entry in METRICS
        if entry.expected and entry.name not in absent and ("all" in entry.families or families & set(entry.families))
    )
