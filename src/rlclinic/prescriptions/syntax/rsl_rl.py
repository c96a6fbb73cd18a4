"""rsl_rl: the agent's YAML, as Isaac Lab keeps it. Minibatches are counted, not sized."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.nesting import nested, yaml_block
from rlclinic.prescriptions.syntax.translate import native_key

SCHEDULES = {"constant": "fixed", "fixed": "fixed", "adaptive": "adaptive"}
ENVIRONMENT = "env."


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """With `adaptive` the rate follows the KL, so its value is only where it starts."""
    if after.kind not in SCHEDULES or after.final:
        raise CannotWrite(f"rsl_rl has the schedules fixed and adaptive, not {after.kind!r}")
    keys = {name: native_key(run, name, Names()) for name in ("learning_rate", "learning_rate_schedule")}
    rate = keys["learning_rate"] or "algorithm.learning_rate"
    changed = [] if before.start == after.start else [Assignment(rate, before.start, after.start)]
    if before.kind == after.kind:
        return changed
    course = keys["learning_rate_schedule"] or "algorithm.schedule"
    return [*changed, Assignment(course, SCHEDULES.get(before.kind), SCHEDULES[after.kind])]


NAMES = Names(
    impossible={
        "learning_rate_critic": "rsl_rl has one learning rate for policy and critic",
        "clip_range_vf": "rsl_rl clips values with clip_param; only use_clipped_value_loss can be switched",
        "normalize_reward": "rsl_rl does not normalise rewards; change their weights in the environment's config",
        "reward_scale": "rsl_rl has no reward scale; change the weights in the environment's config",
        "adam_epsilon": "rsl_rl has no setting for Adam's epsilon",
        "normalize_advantage": "rsl_rl always normalises advantages",
    },
    rate=_rate,
)


def write(run: Run, assignments: Sequence[Assignment]) -> str:
    """The agent's keys, and below a line of their own those of the environment."""
    agent = [item for item in assignments if not item.key.startswith(ENVIRONMENT)]
    world = [
        Assignment(item.key.removeprefix(ENVIRONMENT), item.before, item.after)
        for item in assignments
        if item.key.startswith(ENVIRONMENT)
    ]
    parts = [yaml_block(nested(agent))] if agent else []
    if world:
        parts.append("# in the environment's config\n" + yaml_block(nested(world)))
    return "\n".join(parts)


DIALECT = Dialect("rsl_rl-yaml", "rsl_rl: the agent's YAML", NAMES, write)
