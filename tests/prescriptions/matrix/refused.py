"""Where no config change is prescribed, with what the product says of it; reviewed by hand.

Everything else must be written and load. A row gives the reason for the review, the words of the product's own reason
(empty where no remedy has a value to offer, because the config cannot hold the fault), causes and syntaxes.
"""

from __future__ import annotations

from itertools import product

SOLVER_YAML, SOLVER_FLAGS = "gymnasium-solver-yaml", "gymnasium-solver-flags"
SOLVER = (SOLVER_YAML, SOLVER_FLAGS)
ZOO = ("rl-zoo-yaml", "rl-zoo-flags")
RSL_RL, SKRL = "rsl_rl-yaml", "skrl-yaml"
SB3, CLEANRL, RLLIB, TORCHRL = "sb3-python", "cleanrl-flags", "rllib-python", "torchrl-overrides"
HYDRA, SPINUP = "hydra-overrides", "spinningup-flags"
EVERYWHERE = (*SOLVER, *ZOO, SB3, CLEANRL, RLLIB, TORCHRL, HYDRA, RSL_RL, SKRL, SPINUP)
ROLLOUTS_ONLY = (*SOLVER, RSL_RL)


def _but(*syntaxes: str) -> tuple[str, ...]:
    return tuple(name for name in EVERYWHERE if name not in syntaxes)


_ROWS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "only RLlib has an offline algorithm among these", "",
        ("conservatism-too-strong", "conservatism-too-weak"), _but(RLLIB),
    ),
    ("evaluating an old policy is a fault of gymnasium-solver alone", "", ("evaluation-stale",), _but(*SOLVER)),
    ("a target KL that stops for good is a fault of gymnasium-solver alone", "", ("updates-stopped",), _but(*SOLVER)),
    (
        "the framework has no algorithm that replays or picks actions at random", "PPO has no ",
        (
            "exploration-too-short", "exploration-never-ends", "learning-starts-too-late", "replay-buffer-too-small",
        ), ROLLOUTS_ONLY,
    ),
    (
        "the framework has no algorithm with a target network or a temperature", "",
        (
            "temperature-wrong", "learning-starts-too-early", "target-network-too-fast", "target-network-too-slow",
            "q-overestimation",
        ), ROLLOUTS_ONLY,
    ),
    ("a flag arrives as text unless it is a plain number or a switch", "it needs the YAML file",
     ("trust-region-too-strong", "updates-stopped"), (SOLVER_FLAGS,)),
    ("a schedule is a mapping", "a schedule cannot be given as a flag",
     ("learning-rate-schedule-wrong",), (SOLVER_FLAGS,)),
    (
        "rewards are scaled by a wrapper in code, not by a setting", "",
        ("reward-scale-too-large", "reward-scale-too-small"), (*SOLVER, CLEANRL, RLLIB, TORCHRL, RSL_RL, SPINUP),
    ),
    ("a script of the user's own reads what its config has", "the config has no key norm_",
     ("reward-scale-too-large", "reward-scale-too-small", "observations-unnormalised"), (HYDRA,)),
    ("observations are normalised by a wrapper in code, not by a setting", "",
     ("observations-unnormalised",), (CLEANRL, TORCHRL, SPINUP)),
    ("its policies are categorical", "choose among actions", ("initial-action-std-wrong",), SOLVER),
    ("written in the script", "change actor_logstd there", ("initial-action-std-wrong",), (CLEANRL,)),
    ("written in the module", "write an RLModule of your own", ("initial-action-std-wrong",), (RLLIB,)),
    ("written in the script", "change its last layer there", ("initial-action-std-wrong",), (TORCHRL,)),
    ("written in the script", "change log_std there", ("initial-action-std-wrong",), (SPINUP,)),
    ("the network is written in the script, so its size is not known", "", ("network-too-small",), (CLEANRL,)),
    ("values are not clipped", "", ("value-clipping-too-tight",), (TORCHRL, SPINUP)),
    ("written in the script", "change optim.Adam(..., eps=...) there", ("optimiser-settings-wrong",), (CLEANRL,)),
    ("no such argument", "RLlib's PPO has no adam_epsilon", ("optimiser-settings-wrong",), (RLLIB,)),
    ("no such argument", "skrl has no setting for Adam's epsilon", ("optimiser-settings-wrong",), (SKRL,)),
    ("written in the script", "change Adam(..., eps=...) there", ("optimiser-settings-wrong",), (SPINUP,)),
    ("the rate never changes", "", ("learning-rate-schedule-wrong",), (SPINUP,)),
    ("the temperature is always learned", "", ("temperature-wrong",), (TORCHRL,)),
    ("the temperature is a fixed number", "has a fixed temperature", ("temperature-wrong",), (SPINUP,)),
    ("the loss has no stop at a target KL", "", ("trust-region-too-strong",), (TORCHRL,)),
    ("advantages are always normalised", "", ("advantages-unnormalised",), (RLLIB, RSL_RL, SKRL, SPINUP)),
    ("PPO there has no entropy bonus", "has no entropy bonus", ("exploration-missing",), (SPINUP,)),
    ("there is no bonus to take away", "", ("action-std-explosion",), (SPINUP,)),
    ("nothing is clipped", "clips neither gradients nor values",
     ("gradient-clipping-too-tight", "gradient-explosion"), (SPINUP,)),
    ("critic and policy have separate losses", "no setting for vf_coef", ("value-loss-weight-wrong",), (SPINUP,)),
    ("none of its algorithms picks actions at random", "PPO has no ",
     ("exploration-too-short", "exploration-never-ends"), (SPINUP,)),
)  # fmt: skip

REFUSED: dict[tuple[str, str], str] = {
    (cause, syntax): words for _, words, causes, syntaxes in _ROWS for cause, syntax in product(causes, syntaxes)
}

# Settings that load, but that no reader reads back under one name, with the reason.
UNREAD: dict[tuple[str, str], str] = {
    (RLLIB, "total_steps"): "the stop condition is the tuner's and not among the parameters of a trial",
    (RLLIB, "learning_rate_schedule"): "a list of points instead of a number is the schedule",
    (RLLIB, "n_envs"): "a product of runners and environments per runner",
    (RLLIB, "exploration_fraction"): "steps instead of a share",
    (SKRL, "exploration_fraction"): "epsilon is an expression of the step",
    (SKRL, "exploration_final"): "epsilon is an expression of the step",
}
