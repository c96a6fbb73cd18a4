"""Spinning Up: flags of `python -m spinup.run`. Policy and value function have learning rates of their own."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, Dialect, Names
from rlclinic.prescriptions.syntax.spelling import python_text
from rlclinic.readers.configs.forms import complement

ROLLOUT_ALGORITHMS = ("PPO", "VPG", "TRPO")
CLIPS_NOTHING = "Spinning Up clips neither gradients nor values"
FULL_BATCH = "takes its steps on the whole rollout; change steps_per_epoch"


NAMES = Names(
    keys={
        "learning_rate@SAC": "lr",
        "learning_rate_critic@TD3": "q_lr",
        "learning_rate_critic@DDPG": "q_lr",
        "learning_rate_critic": "vf_lr",
        "target_kl@TRPO": "delta",
        "net_arch": "ac_kwargs.hidden_sizes",
    },
    computed={"hidden_sizes": "", "cpu": "the flag is num_cpu"},
    always={"net_arch": "ac_kwargs.hidden_sizes", "n_envs": "num_cpu"},
    impossible={
        **{f"ent_coef@{name}": f"Spinning Up's {name} has no entropy bonus" for name in ROLLOUT_ALGORITHMS},
        **{f"batch_size@{name}": f"Spinning Up's {name} {FULL_BATCH}" for name in ROLLOUT_ALGORITHMS},
        **{f"n_minibatches@{name}": f"Spinning Up's {name} {FULL_BATCH}" for name in ROLLOUT_ALGORITHMS},
        **dict.fromkeys(("max_grad_norm", "clip_range_vf", "clip_value_loss"), CLIPS_NOTHING),
        "log_std_init": "Spinning Up writes the policy's first spread into core.py; change log_std there",
        "normalize_obs": "Spinning Up does not normalise; wrap the environment",
        "normalize_reward": "Spinning Up does not normalise; wrap the environment",
        "normalize_advantage": "Spinning Up always normalises advantages",
        "adam_epsilon": "Spinning Up writes Adam into the script; change Adam(..., eps=...) there",
        "autotune_alpha": "Spinning Up's SAC has a fixed temperature (alpha)",
        "learning_rate@TRPO": "the step of TRPO's policy is set by delta",
        "n_epochs@TRPO": "TRPO takes one step on each rollout",
        "n_epochs@VPG": "VPG takes one policy step on each rollout",
        "learning_rate_critic@SAC": "Spinning Up's SAC has one learning rate",
    },
    values={"tau": complement},
)


def write(run: Run, assignments: Sequence[Assignment]) -> str:
    """`--pi_lr 0.0003`; nested arguments are joined with a colon."""
    return " ".join(f"--{item.key.replace('.', ':')} {shlex.quote(python_text(item.after))}" for item in assignments)


def refuses(run: Run, assignment: Assignment) -> str:
    """config.json holds every argument of the function, so what it does not hold does not exist."""
    if "." in assignment.key or not run.config.native or assignment.key in (*run.config.native, "num_cpu"):
        return ""
    return f"Spinning Up's {run.algorithm} has no --{assignment.key}"


DIALECT = Dialect("spinningup-flags", "Spinning Up: flags", NAMES, write, refuses=refuses)
