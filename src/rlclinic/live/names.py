"""The names under which live diagnostics are written to trackers: those that dashboards of RL teams look for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rlclinic.reference.framework import COUNTER, framework

# Canonical metric, or a column of the lab that has none -> name in a tracker.
TRACKED: Mapping[str, str] = {
    "explained_variance": "diagnostics/explained_variance",
    "entropy": "diagnostics/entropy_proxy",
    "entropy_share": "diagnostics/entropy_share",
    "action_std/mean": "diagnostics/action_std_mean",
    "action_std/min": "diagnostics/action_std_min",
    "advantage/mean": "diagnostics/advantage_mean",
    "advantage/std": "diagnostics/advantage_std",
    "advantage/abs_max": "diagnostics/advantage_abs_max",
    "log_prob/mean": "diagnostics/log_prob_mean",
    "log_prob/std": "diagnostics/log_prob_std",
    "policy_churn": "diagnostics/policy_churn",
    "dead_units": "diagnostics/dormant_units",
    "effective_rank": "diagnostics/effective_rank",
    "update_to_data": "diagnostics/update_to_data",
    "approx_kl": "diagnostics/approx_kl",
    "clip_fraction": "diagnostics/clip_fraction",
    "grad_norm": "gradients/grad_norm",
    "grad_norm/actor": "gradients/actor_grad_norm",
    "grad_norm/critic": "gradients/critic_grad_norm",
    "grad_norm/trunk": "gradients/trunk_grad_norm",
    "q/mean": "q_values/q_mean",
    "q/max": "q_values/q_max",
    "q1/mean": "q_values/q1_mean",
    "q2/mean": "q_values/q2_mean",
    "q/spread": "diagnostics/q_value_spread",
    "return/train": "episode/mean_reward",
    "episode_length": "episode/mean_length",
}


def tracked(metrics: Mapping[str, float]) -> dict[str, float]:
    """Canonical metrics under their names in trackers; reward components and shares of the time keep theirs."""
    found = {TRACKED[name]: value for name, value in metrics.items() if name in TRACKED}
    kept = {name: value for name, value in metrics.items() if name.startswith(("reward/", "time/", "system/"))}
    return found | kept


@lru_cache(maxsize=512)
def canonical(column: str) -> str:
    """The canonical name of a column of the lab's instruments; its last part where the vocabulary has none."""
    found = framework("rlclinic").metrics.find(column)
    if found is None or found[1][0].name == COUNTER:
        return column.removeprefix("train/opt/")
    return found[1][0].name.replace("*", found[2])
