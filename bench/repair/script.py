"""A recipe for a training script: what `--command` gets, in place of what the lab trains."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rlclinic.model.errors import UsageError
from rlclinic.model.trial import Outcome
from rlclinic.trials.job import run_job
from rlclinic.trials.plan import Job

# Canonical names -> flags of the scripts, by algorithm.
FLAGS: Mapping[str, Mapping[str, str]] = {
    "PPO": {
        "learning_rate": "learning-rate", "learning_rate_schedule": "anneal-lr", "n_envs": "num-envs",
        "n_steps": "num-steps", "n_minibatches": "num-minibatches", "n_epochs": "update-epochs", "gamma": "gamma",
        "gae_lambda": "gae-lambda", "clip_range": "clip-coef", "ent_coef": "ent-coef", "vf_coef": "vf-coef",
        "max_grad_norm": "max-grad-norm", "normalize_advantage": "norm-adv", "clip_value_loss": "clip-vloss",
    },
    "DQN": {
        "learning_rate": "learning-rate", "buffer_size": "buffer-size", "gamma": "gamma", "batch_size": "batch-size",
        "tau": "tau", "target_update_interval": "target-network-frequency", "exploration_initial": "start-e",
        "exploration_final": "end-e", "exploration_fraction": "exploration-fraction",
        "learning_starts": "learning-starts", "train_freq": "train-frequency",
    },
}  # fmt: skip
OWN = ("seed", "total_steps")
FAULT = "fault"
"""Of the environment: a key of `scripts.tasks.FAULTS`. The script does not log it."""


@dataclass(frozen=True, slots=True)
class Script:
    """One script with its flags; in the benchmark it stands where a recipe stands."""

    algorithm: str
    environment: str
    total_steps: int
    values: Mapping[str, Any]
    seed: int = 0
    fault: str = ""
    threshold: None = field(default=None, init=False)

    def with_changes(self, changes: Mapping[str, object]) -> Script:
        """The same with other flags; UsageError where the script has no such flag."""
        foreign = set(changes) - set(FLAGS[self.algorithm]) - {*OWN, FAULT}
        if foreign:
            raise UsageError(f"the script has no flag for {', '.join(sorted(foreign))}")
        own: dict[str, Any] = {key: value for key, value in changes.items() if key in (*OWN, FAULT)}
        values = {**self.values, **{key: value for key, value in changes.items() if key not in own}}
        return replace(self, values=values, **own)

    def to_config(self) -> dict[str, Any]:
        """Everything that decides the run."""
        return {
            "framework": "script", "algorithm": self.algorithm, "env_id": self.environment, "seed": self.seed,
            "total_steps": self.total_steps, FAULT: self.fault, **self.values,
        }  # fmt: skip

    def command(self) -> str:
        """The template that a user would give with `--command`."""
        flags = FLAGS[self.algorithm]
        words = [f"--{flags[key]} {{{key}}}" for key in self.values]
        fixed = f"--env-id {self.environment} --seed {{seed}} --total-timesteps {{total_steps}} --run-dir {{logdir}}"
        hidden = f"--fault {self.fault}" if self.fault else ""
        return f"{sys.executable} -m bench.repair.scripts.{self.algorithm.lower()} {fixed} {' '.join(words)} {hidden}"

    def train(self, folder: Path) -> Outcome:
        """Run it as a trial would."""
        values = dict(self.values)
        if "learning_rate_schedule" in values:
            values["learning_rate_schedule"] = values["learning_rate_schedule"] == "linear"
        return run_job(Job("repair", "run", self.seed, values, self.total_steps, None, self.command()), folder)
