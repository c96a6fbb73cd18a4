"""CleanRL: flags of the script. Those with tyro negate flags with --no-, older ones take True or False."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.spelling import flag_text

# Scripts that cut a rollout into num_minibatches; in the others batch_size is a flag of its own.
ROLLOUT_SCRIPTS = ("PPO", "PPG", "RPO", "PPO_CONTINUOUS_ACTION", "RPO_CONTINUOUS_ACTION", "PPO_ATARI", "PPO_LSTM")
COMPUTED = "the script computes it from num_steps, num_envs and num_minibatches"

# The tyro versions of the rollout scripts log it; the argparse versions have no such argument.
SIGN_OF_TYRO = "num_iterations"


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    if after.kind not in ("linear", "constant") or after.final:
        raise CannotWrite("CleanRL knows a constant learning rate and a linear one that ends at 0 (--anneal-lr)")
    if before.kind != after.kind and run.algorithm not in ROLLOUT_SCRIPTS:
        raise CannotWrite(f"CleanRL's {run.algorithm} has no schedule for the learning rate")
    changed = [] if before.start == after.start else [Assignment("learning_rate", before.start, after.start)]
    if before.kind == after.kind:
        return changed
    return [*changed, Assignment("anneal_lr", before.kind == "linear", after.kind == "linear")]


def _flag_of_advantage(value: object) -> object:
    return value if isinstance(value, bool) else value not in (None, "off", "none")


NAMES = Names(
    keys={"learning_rate_critic": "q_lr", "learning_rate@SAC": "policy_lr", "learning_rate_schedule": "anneal_lr"},
    computed={
        **{f"{key}@{name}": COMPUTED for key in ("batch_size", "minibatch_size") for name in ROLLOUT_SCRIPTS},
        "minibatch_size": COMPUTED,
        "num_iterations": "the script computes it from total_timesteps",
        "num_updates": "the script computes it from total_timesteps",
    },
    impossible={
        "adam_epsilon": "CleanRL writes Adam's epsilon into the script; change optim.Adam(..., eps=...) there",
        "net_arch": "CleanRL writes the network into the script; change the class of the agent there",
        "activation": "CleanRL writes the network into the script; change the class of the agent there",
        "log_std_init": "CleanRL writes the policy's first spread into the script; change actor_logstd there",
        "normalize_obs": "CleanRL normalises in the script; wrap the environment in NormalizeObservation there",
        "normalize_reward": "CleanRL normalises in the script; wrap the environment in NormalizeReward there",
        "clip_range_vf": "CleanRL clips values with --clip-coef; only --clip-vloss can be switched",
        **{f"learning_rate_critic@{name}": "this script has one learning rate" for name in (*ROLLOUT_SCRIPTS, "DQN")},
        **{f"learning_rate_critic@{name}": "this script has one learning rate" for name in ("TD3", "DDPG")},
        **{f"ent_coef@{name}": "this script has no entropy coefficient" for name in ("DQN", "C51", "TD3", "DDPG")},
    },
    values={"normalize_advantage": _flag_of_advantage},
    rate=_rate,
)


def write(run: Run, assignments: Sequence[Assignment]) -> str:
    """Flags, in the order of the changes."""
    return " ".join(_flag(run, item) for item in assignments)


def refuses(run: Run, assignment: Assignment) -> str:
    """The run logs every argument of its script, so what it did not log does not exist; only tyro can be told None."""
    if run.config.native and assignment.key not in run.config.native:
        return f"the script has no --{assignment.key.replace('_', '-')}"
    if assignment.after is None and not _has_tyro(run):
        return f"scripts with argparse cannot set {assignment.key} to None; leave the flag out"
    return ""


def _flag(run: Run, assignment: Assignment) -> str:
    name = assignment.key.replace("_", "-")
    if isinstance(assignment.after, bool) and _has_tyro(run):
        return f"--{name}" if assignment.after else f"--no-{name}"
    return f"--{name} {flag_text(assignment.after)}"


def _has_tyro(run: Run) -> bool:
    if run.algorithm not in ROLLOUT_SCRIPTS or not run.config.native:
        return True
    return SIGN_OF_TYRO in run.config.native


DIALECT = Dialect("cleanrl-flags", "CleanRL: flags", NAMES, write, refuses=refuses)
