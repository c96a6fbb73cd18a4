"""How many gradient updates a config implies or a log counts: per rollout, per env step, in a budget."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.settings import positive
from rlclinic.facts.stretch import finite
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.model.series import StepAxis
from rlclinic.signals._robust import median

# Algorithms that take one gradient step per batch: their ratio is 1 by construction.
SINGLE_STEP = frozenset({"A2C", "A3C", "VPG", "REINFORCE", "ACKTR", "IMPALA"})
# Frameworks whose `train_freq` and `gradient_steps` are known to mean env steps (per environment) and updates.
COUNTED_PER_ENVIRONMENT = frozenset({"sb3", "sb3-zoo"})
COUNTED_IN_STEPS = frozenset({"cleanrl", "rlclinic"})
# Frameworks in which the target interval of Q-learning counts env steps, not updates.
TARGET_IN_ENV_STEPS = frozenset({"sb3", "sb3-zoo", "cleanrl", "openai-baselines", "rllib", "rlclinic"})
# Frameworks that take every gradient step on the whole rollout.
WHOLE_BATCHES = frozenset({"spinningup"})
# Points of a counter that make a slope.
FEWEST_COUNTS = 3
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Period:
    """A length of time and what it counts."""

    value: float
    axis: StepAxis


@fact
def rollout(facts: RunFacts) -> float | None:
    """Samples per rollout over all environments."""
    whole = positive(facts, "rollout_size")
    if whole is not None:
        return whole
    steps, envs = positive(facts, "n_steps"), positive(facts, "n_envs")
    return number(steps * envs) if steps is not None and envs is not None else None


@fact
def batch(facts: RunFacts) -> float | None:
    """Samples per gradient step of an on-policy algorithm, as far as the config tells."""
    size, whole = positive(facts, "batch_size"), rollout(facts)
    if size is not None and facts.run.framework == "gymnasium-solver" and size <= 1.0:
        return whole * size if whole is not None else None
    if size is not None:
        return size
    parts = positive(facts, "n_minibatches")
    if whole is None or parts is None:
        at_once = facts.run.algorithm.upper() in SINGLE_STEP or facts.run.framework in WHOLE_BATCHES
        return whole if at_once else None
    return whole / parts


@fact
def updates_per_rollout(facts: RunFacts) -> float | None:
    """Gradient steps on each rollout: passes times minibatches."""
    whole, size = rollout(facts), batch(facts)
    parts = positive(facts, "n_minibatches") if whole is None or size is None else max(1, math.ceil(whole / size))
    return (positive(facts, "n_epochs") or 1.0) * parts if parts is not None else None


@fact
def steps_per_batch(facts: RunFacts) -> float | None:
    """The same, at least: one environment where their number is not known, and one minibatch of several passes."""
    if facts.run.algorithm.upper() in SINGLE_STEP:
        return 1.0
    passes, known = positive(facts, "n_epochs"), updates_per_rollout(facts)
    if passes is None:
        return None
    if known is not None:
        return known
    steps, size = positive(facts, "n_steps"), positive(facts, "batch_size")
    if steps is not None and size is not None:
        return passes * max(1, math.ceil(steps / size))
    return passes if passes > 1 else None


def policy_updates(facts: RunFacts, name: str) -> float:
    """Policy updates behind a series: from the env steps where these are known, else its points."""
    series, size = facts.run.series[name], rollout(facts) or positive(facts, "n_steps")
    logged = float(len(series))
    if series.axis == "env_steps" and size and series.last_step:
        return max(series.last_step / size, logged)
    return logged


@fact
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
    if whole is None or each is None or facts.is_imitation:
        return None
    return math.floor(steps / whole) * each


@fact
def updates_in_budget(facts: RunFacts) -> float | None:
    """Gradient steps within the budget, as the config implies them or, where there is none, as logged.

    Off policy those at the pace once learning has begun: when it begins is another setting.
    """
    run = facts.run
    made = facts.series("imitation/updates")
    if made is not None:
        # A fit is to all that is labelled so far, often from fresh weights: no config tells how many steps it takes.
        return made.last
    if not run.config.settings:
        return logged_updates(facts)
    steps = run.budget if run.budget and run.step_axis == "env_steps" else run.env_steps
    return expected_updates(facts, steps + (facts.setting("learning_starts") or 0.0)) if steps else None


@fact
def update_to_data(facts: RunFacts) -> float | None:
    """Gradient steps per env step of an off-policy algorithm, from the config or as logged."""
    if not facts.is_off_policy:
        return None
    planned = updates_per_step(facts)
    return planned if planned is not None else logged_ratio(facts)


@fact
def logged_ratio(facts: RunFacts) -> float | None:
    """The slope of the update counter over env steps."""
    updates = facts.series("updates")
    if updates is None or updates.axis != "env_steps" or len(updates) < FEWEST_COUNTS:
        return None
    at, counts = finite(updates)
    steps, made = float(at[-1] - at[0]), float(counts[-1] - counts[0])
    return made / steps if steps > 0 and made > 0 else None


@fact
def target_period(facts: RunFacts) -> Period | None:
    """How long the target network takes to take over the online network."""
    tau, every = facts.setting("tau"), facts.setting("target_update_interval")
    if facts.is_on_policy or (tau is None and every is None):
        return None
    value = (every or 1.0) / max(1.0 if tau is None else tau, TINY)
    # An average moves with each update. One for each env step is usual; that there are fewer is another matter.
    in_steps = every is not None and "q-learning" in facts.families and facts.run.framework in TARGET_IN_ENV_STEPS
    if in_steps or facts.run.step_axis != "env_steps":
        return Period(value, "env_steps" if in_steps else "updates")
    return Period(value / max(update_to_data(facts) or 1.0, 1.0), "env_steps")


@fact
def logged_updates(facts: RunFacts) -> float | None:
    """Gradient steps by the count of the log; None where it may count something else.

    On policy most count passes over the rollout: then the count grows by several from one row to the next, and how many
    minibatches each has must be known.
    """
    counted = facts.series("updates")
    if counted is None or counted.last is None or counted.axis != "env_steps" or finite(counted)[1].size < 2:
        return None
    if facts.is_off_policy or facts.run.algorithm.upper() in SINGLE_STEP:
        return counted.last
    passes, parts = median(np.diff(finite(counted)[1])), positive(facts, "n_minibatches")
    return counted.last * parts if passes > 1.0 and parts is not None else None
