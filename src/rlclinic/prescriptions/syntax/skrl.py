"""skrl: the agent's YAML. Rollout algorithms count minibatches, the others size them."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.nesting import nested, yaml_block
from rlclinic.prescriptions.syntax.translate import native_key

ADAPTIVE = "KLAdaptiveLR"
ROLLOUT_ALGORITHMS = ("PPO", "RPO", "A2C", "TRPO")
PREPROCESSOR = "RunningStandardScaler"


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """A scheduler is a class; only skrl's own one and none can be named without code."""
    rate = native_key(run, "learning_rate", Names()) or "agent.learning_rate"
    changed = [] if before.start == after.start else [Assignment(rate, before.start, after.start)]
    if before.kind == after.kind:
        return changed
    words = {"constant": None, "adaptive": ADAPTIVE, ADAPTIVE: ADAPTIVE}
    if after.kind not in words:
        raise CannotWrite(f"skrl's YAML names {ADAPTIVE} or no scheduler, not {after.kind!r}")
    course = native_key(run, "learning_rate_schedule", Names()) or "agent.learning_rate_scheduler"
    return [*changed, Assignment(course, run.config.get("learning_rate_schedule"), words[after.kind])]


def _threshold(value: object) -> object:
    """0 switches the early stop off."""
    return 0 if value is None else value


def _preprocessor(value: object) -> object:
    return value if isinstance(value, str) else PREPROCESSOR if value else None


NAMES = Names(
    keys={
        "target_kl": "agent.kl_threshold",
        "tau": "agent.polyak",
        "learning_rate_critic": "agent.critic_learning_rate",
    },
    computed={
        f"{key}@{name}": "skrl computes it from rollouts, num_envs and mini_batches"
        for key in ("agent.batch_size", "batch_size")
        for name in ROLLOUT_ALGORITHMS
    },
    impossible={
        "learning_rate_critic@PPO": "skrl's PPO has one learning rate",
        "normalize_reward": "skrl does not normalise rewards; set rewards_shaper_scale",
        "adam_epsilon": "skrl has no setting for Adam's epsilon",
        "normalize_advantage": "skrl always normalises advantages",
    },
    values={"normalize_obs": _preprocessor, "target_kl": _threshold},
    rate=_rate,
)


def write(run: Run, assignments: Sequence[Assignment]) -> str:
    """The keys below `agent:`, `trainer:` or wherever the user has them."""
    return yaml_block(nested(assignments))


def refuses(run: Run, assignment: Assignment) -> str:
    """The threshold of the scheduler is no early stop and cannot be switched off."""
    if assignment.key.endswith("scheduler_kwargs.kl_threshold") and not assignment.after:
        return "the learning rate follows this threshold; change the scheduler instead"
    return ""


DIALECT = Dialect("skrl-yaml", "skrl: the agent's YAML", NAMES, write, refuses=refuses)
