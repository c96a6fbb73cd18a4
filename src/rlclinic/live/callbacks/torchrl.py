"""TorchRL: `ClinicHook(...).register(trainer)` for its Trainer; loops of one's own call `monitor.log` themselves."""

from __future__ import annotations

from typing import Any

import torch
from torchrl.trainers import TrainerHookBase

from rlclinic.lab.instruments.evaluating import evaluating
from rlclinic.lab.instruments.gradients import GradientNorms
from rlclinic.live.monitor import Monitor, monitor
from rlclinic.live.names import tracked
from rlclinic.live.phases import Turns, system_metrics
from rlclinic.live.publish import Publisher
from rlclinic.live.record import scalar

# States on which the critics are asked.
SAMPLE = 128
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
        self._turns = Turns(self.monitor.phases)
        self._updates = 0

    def register(self, trainer: Any, name: str = "clinic") -> None:
        """Hook into every point of the Trainer that is needed."""
        self._trainer = trainer
        trainer.register_op("setup", self._collecting)
        trainer.register_op("pre_steps_log", self._collected)
        trainer.register_op("post_optim_complete_log", self._optimised)
        trainer.register_op("post_steps_log", self)
        trainer.register_op("shutdown", self._close)
        trainer.register_module(name, self)
        self.monitor.guard.call("the gradients", self._follow_gradients)

    def __call__(self, batch: Any) -> dict[str, Any] | None:
        """After the updates on a batch."""
        self.monitor.guard.call("the phases", self._turns.learned)
        row = self.monitor.guard.call("the hook", self._row, batch)
        self._collecting()
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

    def _collecting(self) -> None:
        policy = getattr(self._trainer.collector, "policy", None)
        self.monitor.guard.call("the phases", self._turns.collecting, policy if hasattr(policy, "parameters") else None)

    def _collected(self, batch: Any) -> None:
        self.monitor.guard.call("the phases", self._turns.collected)

    def _close(self) -> None:
        self._turns.close()
        if self._gradients is not None:
            self._gradients.close()
        self.monitor.close()

    def _optimised(self, optim_steps: int, losses: Any) -> None:
        self._updates = optim_steps
        self.monitor.guard.call("the hook", self._keep, losses)

    def _keep(self, losses: Any) -> None:
        found = {str(key): scalar(value) for key, value in (losses.items() if losses is not None else ())}
        self._losses = {key: value for key, value in found.items() if value is not None}

    def _row(self, batch: Any) -> dict[str, float]:
        step = float(self._trainer.collected_frames)
        own = {**_of_batch(batch), **{f"grad_norm/{part}": norm for part, norm in self._norms().items()}}
        critics = self.monitor.guard.call("the critics", _of_critics, self._trainer.loss_module, batch) or {}
        if critics:
            own |= {**critics, "update_to_data": self._updates / step}
        own |= self.monitor.phases.take() | system_metrics()
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
    taken, each = batch.get("chosen_action_value", None), batch.get("action_value", None)
    if taken is not None and each is not None:
        found["q/mean"], found["q/max"] = float(taken.mean()), float(each.max())
    log_prob = batch.get("action_log_prob", batch.get("sample_log_prob", None))
    if log_prob is not None:
        found["log_prob/mean"], found["log_prob/std"] = float(log_prob.mean()), float(log_prob.std())
    return found


@torch.no_grad()
def _of_critics(loss: Any, batch: Any) -> dict[str, float]:
    """What the critics of SAC, TD3 and their kin say of actions of the batch."""
    values_of = getattr(loss, "_vmap_qnetworkN0", None)
    if values_of is None or batch is None:
        return {}
    keys = dict.fromkeys([*loss.qvalue_network.in_keys, "action"])
    inputs = batch.select(*keys, strict=False).reshape(-1)[:SAMPLE]
    with evaluating(loss.qvalue_network):
        answers = values_of(inputs, loss.qvalue_network_params)
    values = answers.get("state_action_value", None)
    if values is None:
        each, action = answers["action_value"], inputs["action"]
        one_hot = action.shape[-1:] == each.shape[-1:]
        values = (each * action).sum(dim=-1) if one_hot else each.gather(-1, action.expand(each.shape[:-1])[..., None])
    values = values.reshape(len(values), -1)
    found = {"q/mean": float(values.mean()), "q/max": float(values.max())}
    if len(values) > 1:
        found["q/spread"] = float((values[0] - values[1]).abs().mean())
        found |= {f"q{at + 1}/mean": float(values[at].mean()) for at in range(2)}
    return found
