"""TorchRL: `ClinicHook(...).register(trainer)` for its Trainer; loops of one's own call `monitor.log` themselves."""

from __future__ import annotations

from typing import Any

from torchrl.trainers import TrainerHookBase

from rlclinic.lab.instruments.gradients import GradientNorms
from rlclinic.live.monitor import Monitor, monitor
from rlclinic.live.names import tracked
from rlclinic.live.publish import Publisher
from rlclinic.live.record import scalar

# Beginnings of parameter names of loss modules -> part.
_PARTS = (("actor", "actor"), ("policy", "actor"), ("critic", "critic"), ("value", "critic"), ("qvalue", "critic"))


class ClinicHook(TrainerHookBase):
    """Follows a Trainer. Takes the options of `rlclinic.monitor`; `on_error="stop"` makes the Trainer save and stop."""

    def __init__(self, **options: Any) -> None:
        self.monitor: Monitor = monitor(**{"framework": "torchrl", **options})
        self._publisher = Publisher(self.monitor.guard)
        self._losses: dict[str, float] = {}
        self._trainer: Any = None
        self._gradients: GradientNorms | None = None

    def register(self, trainer: Any, name: str = "clinic") -> None:
        """Hook into every point of the Trainer that is needed."""
        self._trainer = trainer
        trainer.register_op("post_optim_complete_log", self._optimised)
        trainer.register_op("post_steps_log", self)
        trainer.register_op("shutdown", self.monitor.close)
        trainer.register_module(name, self)
        self.monitor.guard.call("the gradients", self._follow_gradients)

    def __call__(self, batch: Any) -> dict[str, Any] | None:
        """After the updates on a batch."""
        row = self.monitor.guard.call("the hook", self._row, batch)
        if self.monitor.should_stop:
            self._trainer.request_stop(f"rlclinic: {self.monitor.stop_reason}")
        return row

    def state_dict(self) -> dict[str, Any]:
        """Nothing of it belongs into a checkpoint."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing to load."""

    def _follow_gradients(self) -> None:
        parts: dict[str, list[Any]] = {}
        for name, parameter in self._trainer.loss_module.named_parameters():
            part = next((part for start, part in _PARTS if name.startswith(start)), "trunk")
            parts.setdefault(part, []).append(parameter)
        self._gradients = GradientNorms(self._trainer.optimizer, parts)

    def _optimised(self, optim_steps: int, losses: Any) -> None:
        self.monitor.guard.call("the hook", self._keep, losses)

    def _keep(self, losses: Any) -> None:
        found = {str(key): scalar(value) for key, value in (losses.items() if losses is not None else ())}
        self._losses = {key: value for key, value in found.items() if value is not None}

    def _row(self, batch: Any) -> dict[str, float]:
        own = {**_of_batch(batch), **{f"grad_norm/{part}": norm for part, norm in self._norms().items()}}
        step = float(self._trainer.collected_frames)
        self.monitor.log({**self._losses, **own}, step)
        named = tracked(own)
        self._publisher.write(named, step)
        # The Trainer writes what a hook returns to its own logger.
        return named

    def _norms(self) -> dict[str, float]:
        return self._gradients.take() if self._gradients is not None else {}


def _of_batch(batch: Any) -> dict[str, float]:
    """Returns of episodes that ended in the batch, advantages, the critic's share of the variance, action spread."""
    if batch is None:
        return {}
    found: dict[str, float] = {}
    done = batch.get(("next", "done"), None)
    returns = batch.get(("next", "episode_reward"), None)
    if returns is not None and done is not None and bool(done.any()):
        found["return/train"] = float(returns[done].mean())
    reward = batch.get(("next", "reward"), None)
    if reward is not None:
        found["reward/step"] = float(reward.float().mean())
    advantage = batch.get("advantage", None)
    if advantage is not None:
        found["advantage/mean"], found["advantage/std"] = float(advantage.mean()), float(advantage.std())
        found["advantage/abs_max"] = float(advantage.abs().max())
    target, value = batch.get("value_target", None), batch.get("state_value", None)
    if target is not None and value is not None and float(target.var()) > 0:
        found["explained_variance"] = 1.0 - float((target - value).var()) / float(target.var())
    scale = batch.get("scale", None)
    if scale is not None:
        spread = scale.reshape(-1, scale.shape[-1]).mean(dim=0)
        found["action_std/mean"], found["action_std/min"] = float(spread.mean()), float(spread.min())
    log_prob = batch.get("action_log_prob", batch.get("sample_log_prob", None))
    if log_prob is not None:
        found["log_prob/mean"], found["log_prob/std"] = float(log_prob.mean()), float(log_prob.std())
    return found
