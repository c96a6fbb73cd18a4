"""Settings of the probes by the names that Stable-Baselines3 gave them, which the lab's TorchRL learners share."""

from __future__ import annotations

from collections.abc import Mapping

SHARED: Mapping[str, str] = {
    "learning_rate": "learning_rate",
    "max_grad_norm": "max_grad_norm",
    "batch_size": "batch_size",
    "n_steps": "n_steps",
    "n_epochs": "n_epochs",
    "gae_lambda": "gae_lambda",
    "clip_range": "clip_range",
    "clip_range_value": "clip_range_vf",
    "normalize_advantage": "normalize_advantage",
    "entropy_coefficient": "ent_coef",
    "value_coefficient": "vf_coef",
    "buffer_size": "buffer_size",
    "learning_starts": "learning_starts",
    "tau": "tau",
    "temperature": "ent_coef",
    "target_entropy": "target_entropy",
}
"""Setting -> argument or hyperparameter."""
