"""REINFORCE on whole episodes, with an optional learned baseline."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from tensordict import TensorDictBase
from torchrl.objectives import ReinforceLoss

from rlclinic.lab.torchrl.learners.base import Columns, Learner, minibatches, normalised
from rlclinic.lab.torchrl.optimiser import Optimiser
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.spaces import Spaces


class ReinforceLearner(Learner):
    """One gradient step on the policy per batch of episodes; the baseline is fitted with `n_epochs` passes over it."""

    whole_episodes: ClassVar[bool] = True
    trace = 1.0

    def __init__(self, options: Options, spaces: Spaces) -> None:
        super().__init__(options, spaces)
        self._has_baseline = options.flag("baseline")
        self._loss = ReinforceLoss(self.actor, self.critic, loss_critic_type="l2", functional=False)
        self._policy = Optimiser({"actor": list(self.actor.parameters())}, options)
        self._value = Optimiser({"critic": list(self.critic.parameters())}, options, "learning_rate_critic")

    def optimisers(self) -> dict[str, Optimiser]:
        """The policy's, and the baseline's where there is one."""
        return {"actor": self._policy, "critic": self._value} if self._has_baseline else {"actor": self._policy}

    def baseline(self) -> Any:
        """The critic, or nothing."""
        return self.critic if self._has_baseline else None

    def learn(self, batch: TensorDictBase) -> Columns:
        """The policy first: the baseline that its advantages were taken against has not seen this batch."""
        if self.options.flag("normalize_advantage") and len(batch) > 1:
            batch = batch.set("advantage", normalised(batch["advantage"]))
        dist = self.actor.get_dist(batch.select("observation"))
        entropy = dist.entropy().mean()
        loss = self._loss(batch)["loss_actor"]
        total = loss - self.options.number("ent_coef") * entropy
        self._policy.step(total)
        columns = {"train/opt/loss/policy": float(loss.detach()), "train/opt/loss/total": float(total.detach())}
        if self._has_baseline:
            columns["train/opt/loss/value"] = self._fit_baseline(batch)
        with torch.no_grad():
            after = self.actor.get_dist(batch.select("observation"))
            log_ratio = after.log_prob(batch["action"]) - batch["action_log_prob"]
        columns["train/opt/policy/approx_kl"] = float((log_ratio.exp() - 1 - log_ratio).mean())
        return columns

    def _fit_baseline(self, batch: TensorDictBase) -> float:
        losses = []
        for _ in range(self.options.whole("n_epochs")):
            for part in minibatches(batch, self.options.whole("batch_size")):
                loss = (self.critic.module(part["observation"]) - part["value_target"]).square().mean()
                self._value.step(loss)
                losses.append(float(loss.detach()))
        return sum(losses) / max(len(losses), 1)
