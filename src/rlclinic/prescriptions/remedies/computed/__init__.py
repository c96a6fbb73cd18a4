"""New values that need more than one step of one hyperparameter: functions by topic, named in the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.computed import (
    exploration,
    language_model,
    off_policy,
    rewards,
    sizes,
    step_size,
    updates,
)
from rlclinic.prescriptions.setting_change import Changes

TOPICS = (exploration, language_model, off_policy, rewards, sizes, step_size, updates)
COMPUTED: Mapping[str, Callable[[Assessment], Changes]] = {
    name: function
    for topic in TOPICS
    for name, function in vars(topic).items()
    if getattr(function, "__module__", "") == topic.__name__ and not name.startswith("_")
}
"""Every public function of the topics: what is added there can be named in a table."""
