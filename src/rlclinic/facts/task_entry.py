"""Which values of the entry for its task hold in the set-up of a run.

An entry is a whole. A learning rate goes with the number of gradient steps: an adaptive optimiser moves a weight by
about the rate in each, so that a rate found with forty times as many steps per sample is forty times too low alone. A
first log standard deviation goes with the kind of noise: that of state-dependent exploration multiplies features.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.update_count import rollout, update_to_data, updates_per_rollout
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
        here, there = _pace(facts), gradient_steps_per_sample(entry)
        return here is None or there is None or 1.0 / OTHER_PACE < here / there < OTHER_PACE
    if name == "log_std_init":
        return bool(run.config.get("use_sde")) == bool(entry.get("use_sde"))
    return True


def _pace(facts: RunFacts) -> float | None:
    """Gradient steps per env step, as the config or the log tells."""
    if facts.is_off_policy:
        return update_to_data(facts)
    whole, updates = rollout(facts), updates_per_rollout(facts)
    return updates / whole if whole and updates else None
