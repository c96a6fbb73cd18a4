"""What a framework has no setting for, with the reason; reviewed by hand. Everything else must be written and load."""

from __future__ import annotations

from itertools import product

SOLVER = ("gymnasium-solver-yaml", "gymnasium-solver-flags")
ZOO = ("rl-zoo-yaml", "rl-zoo-flags")
ROBOTS = ("rsl_rl-yaml", "skrl-yaml")
SB3, CLEANRL, RLLIB, TORCHRL = "sb3-python", "cleanrl-flags", "rllib-python", "torchrl-overrides"
HYDRA, SPINUP = "hydra-overrides", "spinningup-flags"
EVERYWHERE = (*SOLVER, *ZOO, SB3, CLEANRL, RLLIB, TORCHRL, HYDRA, *ROBOTS, SPINUP)
ROLLOUTS_ONLY = (*SOLVER, HYDRA, *ROBOTS)


def _but(*syntaxes: str) -> tuple[str, ...]:
    return tuple(name for name in EVERYWHERE if name not in syntaxes)


_ROWS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "it is about language models, and this syntax trains none",
        (
            "responses-truncated", "kl-reward-hacking", "kl-penalty-too-strong", "kl-penalty-too-weak",
            "entropy-collapse-llm", "entropy-explosion-llm", "sampler-trainer-mismatch", "loss-aggregation-biased",
            "group-too-small", "validation-missing",
        ),
        _but(HYDRA),
    ),
    ("only search-r1 has a switch for the mask", ("observation-tokens-trained",), EVERYWHERE),
    ("the weight of the format is part of the user's reward function", ("format-reward-dominates",), EVERYWHERE),
    (
        "only offline algorithms have a conservative term, and none of these configs is of one",
        ("conservatism-too-strong", "conservatism-too-weak"),
        EVERYWHERE,
    ),
    ("evaluating an old policy is a fault of gymnasium-solver alone", ("evaluation-stale",), _but(*SOLVER)),
    ("a target KL that stops for good is a fault of gymnasium-solver alone", ("updates-stopped",), _but(*SOLVER)),
    (
        "the framework has no algorithm with a replay buffer, or the config is of PPO",
        (
            "exploration-too-short", "exploration-never-ends", "temperature-wrong", "learning-starts-too-late",
            "learning-starts-too-early", "target-network-too-fast", "target-network-too-slow",
            "replay-buffer-too-small", "q-overestimation",
        ),
        ROLLOUTS_ONLY,
    ),
    (
        "a flag arrives as text unless it is a plain number or a switch",
        ("trust-region-too-strong", "updates-stopped", "learning-rate-schedule-wrong"),
        ("gymnasium-solver-flags",),
    ),
    (
        "rewards are scaled by a wrapper in code, not by a setting",
        ("reward-scale-too-large", "reward-scale-too-small"),
        (*SOLVER, CLEANRL, RLLIB, TORCHRL, HYDRA, *ROBOTS, SPINUP),
    ),
    (
        "observations are normalised by a wrapper in code, not by a setting",
        ("observations-unnormalised",),
        (CLEANRL, TORCHRL, HYDRA, SPINUP),
    ),
    (
        "the spread of the policy's first actions is written in the network's code",
        ("initial-action-std-wrong",),
        (*SOLVER, CLEANRL, RLLIB, TORCHRL, SPINUP),
    ),
    ("the network is written in the script", ("network-too-small",), (CLEANRL,)),
    (
        "the layers are part of an expression or of a model section that is not read",
        ("network-too-small",),
        (*ZOO, "skrl-yaml"),
    ),
    ("a value clip of null is refused; the key has to be taken out", ("value-clipping-too-tight",), ZOO),
    ("values are not clipped", ("value-clipping-too-tight",), (TORCHRL, SPINUP)),
    (
        "the framework's Adam already has this epsilon, or has no setting for it",
        ("optimiser-settings-wrong",),
        (*ZOO, CLEANRL, RLLIB, *ROBOTS, SPINUP),
    ),
    (
        "a schedule is a function in the script, or there is none",
        ("learning-rate-schedule-wrong",),
        (SB3, HYDRA, SPINUP),
    ),
    ("the budget is the stop condition of the tuner", ("budget-too-small",), (RLLIB,)),
    ("the temperature is always learned", ("temperature-wrong",), (RLLIB, TORCHRL)),
    ("the loss has no stop at a target KL", ("trust-region-too-strong",), (TORCHRL,)),
    ("advantages are always normalised, or never", ("advantages-unnormalised",), (RLLIB, *ROBOTS, SPINUP)),
    (
        "PPO there has neither an entropy bonus nor a gradient clip nor a weight of the value loss",
        (
            "entropy-bonus-too-low", "entropy-bonus-too-high", "exploration-missing", "action-std-explosion",
            "gradient-clipping-too-tight", "gradient-explosion", "value-loss-weight-wrong",
        ),
        (SPINUP,),
    ),
    (
        "none of its algorithms has epsilon, a learned temperature, or a tau that the reader knows (polyak is 1 - tau)",
        (
            "exploration-too-short", "exploration-never-ends", "temperature-wrong", "target-network-too-fast",
            "target-network-too-slow", "q-overestimation",
        ),
        (SPINUP,),
    ),
)  # fmt: skip

REFUSED: dict[tuple[str, str], str] = {
    (cause, syntax): reason for reason, causes, syntaxes in _ROWS for cause, syntax in product(causes, syntaxes)
}

# Settings that load, but that no reader reads back under one name, with the reason.
UNREAD: dict[tuple[str, str], str] = {
    (RLLIB, "learning_rate_schedule"): "a list of points instead of a number is the schedule",
    (RLLIB, "n_envs"): "a product of runners and environments per runner",
    (RLLIB, "exploration_fraction"): "steps instead of a share",
    (RLLIB, "net_arch"): "the model_config of the new stack is not among the names that are read",
    (SB3, "adam_epsilon"): "an argument of the optimiser inside policy_kwargs",
}
