"""Hugging Face Trainer and TRL: `GRPOTrainer(..., callbacks=[ClinicTrainerCallback()])`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from transformers import TrainerCallback

from rlclinic.live.monitor import Monitor, monitor


class ClinicTrainerCallback(TrainerCallback):
    """Follows what the trainer logs. With `on_error="stop"` the trainer saves and stops."""

    def __init__(self, **options: Any) -> None:
        self.monitor: Monitor = monitor(**{"framework": "trl", **options})
        self.monitor.record.axis = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The budget, in updates."""
        self.monitor.guard.call("the callback", self._start, args, state)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """One row."""
        if getattr(state, "is_world_process_zero", True):
            self.monitor.log(dict(logs or {}), float(state.global_step))

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop where that was asked for, all processes at the same step: one that goes on would wait for the others."""
        if self.monitor.on_error == "stop" and _any_process(self.monitor.should_stop, args.device):
            control.should_save = control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The end."""
        self.monitor.close()

    def _start(self, args: Any, state: Any) -> None:
        about = self.monitor.record.about
        names = ("learning_rate", "beta", "num_generations", "max_completion_length", "max_grad_norm", "temperature")
        config = {name: getattr(args, name) for name in names if hasattr(args, name)}
        budget = about.budget or float(state.max_steps or 0) or None
        self.monitor.describe(replace(about, budget=budget, config={**config, **about.config}))


def _any_process(decision: bool, device: Any) -> bool:  # noqa: FBT001
    """Whether one of the processes that train together decided so; only the first follows the run."""
    group = torch.distributed
    if not (group.is_available() and group.is_initialized()):
        return decision
    decided = torch.tensor(int(decision), device=device)
    group.all_reduce(decided, group.ReduceOp.MAX)
    return bool(decided)
