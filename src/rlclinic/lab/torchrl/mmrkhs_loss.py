"""The MM-RKHS loss: majorise the cost by an MMD term, stay close by a KL term, minimise both at once.

For rewards, one iteration from the policy pi_k minimises over p (Gupta and Mahajan, arXiv:2603.17875, eq. 7.1)

    -<A, p> + beta MMD^2(p, pi_k) + (1 / eta) KL(p || pi_k)

in every state. Here the first term is the importance-weighted advantage of the *stored* action; the other two are
exact.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import dispatch
from torchrl.modules import TanhNormal
from torchrl.objectives.common import LossModule
from torchrl.objectives.utils import ValueEstimators

from rlclinic.lab.torchrl.distances import (
    Tensor,
    categorical_kl,
    categorical_mmd,
    gaussian_kl,
    gaussian_mmd,
    kernel_bandwidth,
)
from rlclinic.model.lazy_dataclass import dataclass

# Largest log ratio that enters the objective: keeps exp finite where a policy has left its data by far.
LOG_RATIO_LIMIT = 20.0


class MMRKHSLoss(LossModule):
    """A TorchRL loss for categorical, Gaussian and tanh-Gaussian actors.

    The tensordict holds what was collected: observation, action, action_log_prob, the old policy's parameters under
    ("behaviour", "logits") or ("behaviour", "loc") and ("behaviour", "scale") (before any squashing), and the
    advantage and value_target that were computed per environment before the batch was flattened.
    """

    @dataclass
    class _AcceptedKeys:
        advantage: Any = "advantage"
        value_target: Any = "value_target"
        value: Any = "state_value"
        action: Any = "action"
        sample_log_prob: Any = "action_log_prob"
        old_logits: Any = ("behaviour", "logits")
        old_loc: Any = ("behaviour", "loc")
        old_scale: Any = ("behaviour", "scale")
        reward: Any = "reward"
        done: Any = "done"
        terminated: Any = "terminated"

    tensor_keys: _AcceptedKeys
    default_keys = _AcceptedKeys
    default_value_estimator = ValueEstimators.GAE
    out_keys = (
        "loss_objective",
        "loss_mmd",
        "loss_kl",
        "loss_entropy",
        "loss_critic",
        "mmd",
        "kl",
        "kl_approx",
        "entropy",
        "max_ratio",
    )

    def __init__(
        self,
        actor_network: Any,
        critic_network: Any = None,
        *,
        mmd_coef: float = 1.0,
        eta: float = 1.0,
        bandwidth: float | str = "median",
        kernel: Tensor | None = None,
        entropy_coeff: float = 0.0,
        critic_coeff: float = 0.5,
    ) -> None:
        super().__init__()
        self.actor_network = actor_network
        self.critic_network = critic_network
        self.bandwidth = bandwidth
        self.entropy_coeff = entropy_coeff
        self.critic_coeff = critic_coeff
        self.register_buffer("mmd_coef", torch.tensor(float(mmd_coef)))
        self.register_buffer("eta", torch.tensor(float(eta)))
        self.register_buffer("kernel", kernel)
        critic_keys = () if critic_network is None else tuple(critic_network.in_keys)
        self.in_keys = list({"action", "action_log_prob", "advantage", *actor_network.in_keys, *critic_keys})

    def schedule(self, *, eta: float, mmd_coef: float) -> None:
        """Set the step size and the weight of the MMD for the coming iteration."""
        self.eta.fill_(eta)
        self.mmd_coef.fill_(mmd_coef)

    @dispatch
    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """The terms of the loss (`loss_*`, to be summed) and what they were made of."""
        keys = self.tensor_keys
        # Only the inputs go in: the actor must neither sample an action nor overwrite what was collected.
        dist = self.actor_network.get_dist(tensordict.select(*self.actor_network.in_keys))
        log_ratio = dist.log_prob(tensordict.get(keys.action)) - tensordict.get(keys.sample_log_prob).detach()
        ratio = log_ratio.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()
        advantage = tensordict.get(keys.advantage).detach().reshape(log_ratio.shape)
        mmd, kl = self._distances(dist, tensordict)
        entropy = _entropy(dist)
        out = {
            "loss_objective": -(ratio * advantage).mean(),
            "loss_mmd": self.mmd_coef * mmd.mean(),
            "loss_kl": kl.mean() / self.eta,
            "loss_entropy": -self.entropy_coeff * entropy.mean(),
            "mmd": mmd.detach().mean(),
            "kl": kl.detach().mean(),
            # k3 of the stored actions estimates KL(old || new), the direction that PPO logs.
            "kl_approx": (ratio - 1 - log_ratio).detach().mean(),
            "entropy": entropy.detach().mean(),
            "max_ratio": ratio.detach().max(),
        }
        if self.critic_network is not None:
            value = self.critic_network(tensordict.select(*self.critic_network.in_keys)).get(keys.value)
            target = tensordict.get(keys.value_target).detach().reshape(value.shape)
            out["loss_critic"] = self.critic_coeff * (value - target).square().mean()
        return TensorDict(out, batch_size=[])

    @torch.no_grad()
    def distances_of(self, tensordict: TensorDictBase) -> tuple[float, float]:
        """Mean squared MMD and KL(new || old) of the actor as it is now, over the states of a batch."""
        dist = self.actor_network.get_dist(tensordict.select(*self.actor_network.in_keys))
        mmd, kl = self._distances(dist, tensordict)
        return float(mmd.mean()), float(kl.mean())

    def _distances(self, dist: Any, tensordict: TensorDictBase) -> tuple[Tensor, Tensor]:
        keys = self.tensor_keys
        if hasattr(dist, "logits"):
            old = tensordict.get(keys.old_logits).detach()
            mmd = categorical_mmd(dist.logits.softmax(-1), old.softmax(-1), self.kernel)
            return mmd, categorical_kl(dist.logits, old)
        old_mean, old_std = tensordict.get(keys.old_loc).detach(), tensordict.get(keys.old_scale).detach()
        mean, std = gaussian_of(dist)
        width = kernel_bandwidth(self.bandwidth, old_std)
        return gaussian_mmd(mean, std, old_mean, old_std, width), gaussian_kl(mean, std, old_mean, old_std)


def gaussian_of(dist: Any) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of a Gaussian policy, before its squashing where it has one."""
    if isinstance(dist, TanhNormal):
        return dist.loc, dist.scale
    return dist.base_dist.loc, dist.base_dist.scale


def _entropy(dist: Any) -> Tensor:
    if isinstance(dist, TanhNormal):
        # No closed form after squashing: that of the Gaussian, which only an entropy bonus and the log look at.
        return (0.5 * math.log(2 * math.pi * math.e) + dist.scale.log()).sum(-1)
    entropy: Tensor = dist.entropy()
    return entropy
