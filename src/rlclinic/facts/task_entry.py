"""Which values of the entry for its task hold in the set-up of a run.

An entry is a whole. A learning rate goes with the number of gradient steps: an adaptive optimiser moves a weight by
about the rate in each, so that a rate found with forty times as many steps per sample is forty times too low alone.
What carries over is how far a weight can move per sample: the rate at the pace of this run. A first log standard
deviation goes with the kind of noise: that of state-dependent exploration multiplies features.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.update_count import rollout, update_to_data, updates_per_rollout
from rlclinic.reference.hyperparameters import amount
from rlclinic.reference.reference_configs import gradient_steps_per_sample, has_reference_config, reference_config

# Times by which gradient steps per sample may differ before a learning rate is another one: a decade, where rates of
# working configs differ by less.
OTHER_PACE = 10.0


def entry_holds(facts: RunFacts, name: str) -> bool:
    """Whether there is an entry for the task whose value of a setting says something about this run."""
    run = facts.run
    if not has_reference_config(run.environment, run.algorithm):
        return False
    entry = reference_config(run.environment, run.algorithm)
    if name == "learning_rate":
        slower = _times_slower(facts)
        return slower is None or 1.0 / OTHER_PACE < slower < OTHER_PACE
    if name == "log_std_init":
        return bool(run.config.get("use_sde")) == bool(entry.get("use_sde"))
    return True


def rate_at_pace(facts: RunFacts) -> float | None:
    """The learning rate with which a weight moves as far per sample as in the entry for the task; None without one."""
    entry, slower = reference_config(facts.run.environment, facts.run.algorithm), _times_slower(facts)
    known = amount("learning_rate", entry.get("learning_rate"))
    return known * slower if known is not None and slower is not None else None


def _times_slower(facts: RunFacts) -> float | None:
    """Gradient steps per sample of the entry for the task in those of the run; None where either is not known."""
    run = facts.run
    if not has_reference_config(run.environment, run.algorithm):
        return None
    here, there = _pace(facts), gradient_steps_per_sample(reference_config(run.environment, run.algorithm))
    return there / here if here and there else None


def _pace(facts: RunFacts) -> float | None:
    """Gradient steps per env step, as the config or the log tells."""
    if facts.is_off_policy:
        return update_to_data(facts)
    whole, updates = rollout(facts), updates_per_rollout(facts)
    return updates / whole if whole and updates else None
