"""How many gradient updates a config implies or a log counts: per rollout, per env step, in a budget."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.policy_updates import SINGLE_STEP
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.facts.stretch import finite
from rlclinic.model.numbers import number

# Frameworks whose `train_freq` and `gradient_steps` are known to mean env steps (per environment) and updates.
COUNTED_PER_ENVIRONMENT = frozenset({"sb3", "sb3-zoo"})
COUNTED_IN_STEPS = frozenset({"cleanrl", "rlclinic"})
# Gradient steps of a pass over a rollout where only passes are counted: what most frameworks default to, at least.
MINIBATCHES = 4.0


def rollout(facts: RunFacts) -> float | None:
    """Samples per rollout over all environments."""
    whole = positive(facts, "rollout_size")
    if whole is not None:
        return whole
    steps, envs = positive(facts, "n_steps"), positive(facts, "n_envs")
    return number(steps * envs) if steps is not None and envs is not None else None


def batch(facts: RunFacts) -> float | None:
    """Samples per gradient step of an on-policy algorithm, as far as the config tells."""
    size, whole = positive(facts, "batch_size"), rollout(facts)
    if size is not None and facts.run.framework == "gymnasium-solver" and size <= 1.0:
        return whole * size if whole is not None else None
    if size is not None:
        return size
    parts = positive(facts, "n_minibatches")
    if whole is None:
        return None
    return whole / parts if parts is not None else whole


def updates_per_rollout(facts: RunFacts) -> float | None:
    """Gradient steps on each rollout: passes times minibatches."""
    whole, size = rollout(facts), batch(facts)
    if whole is None or size is None:
        return None
    return (positive(facts, "n_epochs") or 1.0) * max(1, math.ceil(whole / size))


def updates_per_step(facts: RunFacts) -> float | None:
    """Gradient steps per env step of an off-policy algorithm."""
    given = positive(facts, "update_to_data")
    if given is not None:
        return given
    every, count = positive(facts, "train_freq"), facts.setting("gradient_steps")
    framework = facts.run.framework
    if every is None or framework not in COUNTED_PER_ENVIRONMENT | COUNTED_IN_STEPS:
        return None
    if count is None:
        return 1.0 / every if framework == "cleanrl" else None
    if count < 0:
        return 1.0
    envs = positive(facts, "n_envs") or 1.0 if framework in COUNTED_PER_ENVIRONMENT else 1.0
    return count / (every * envs)


def expected_updates(facts: RunFacts, steps: float) -> float | None:
    """Gradient steps that the config implies for so many env steps."""
    if facts.is_off_policy:
        ratio = updates_per_step(facts)
        if ratio is None:
            return None
        return max(0.0, steps - (facts.setting("learning_starts") or 0.0)) * ratio
    whole, each = rollout(facts), updates_per_rollout(facts)
    if whole is None or each is None:
        return None
    return math.floor(steps / whole) * each


def logged_updates(facts: RunFacts) -> float | None:
    """Gradient steps by the count of the log; None where it may count something else.

    On policy most count passes over the rollout: then the count grows by several from one row to the next.
    """
    counted = facts.series("updates")
    if counted is None or counted.last is None or counted.axis != "env_steps" or finite(counted)[1].size < 2:
        return None
    if facts.is_off_policy or facts.run.algorithm.upper() in SINGLE_STEP:
        return counted.last
    passes = float(np.median(np.diff(finite(counted)[1])))
    return counted.last * MINIBATCHES if passes > 1.0 else None
