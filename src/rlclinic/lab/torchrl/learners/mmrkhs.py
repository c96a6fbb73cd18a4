"""MM-RKHS: minimise the majoriser of the return around the policy that collected the batch, then move it there.

Epochs and minibatches are the inner iterations. All stay around the same old policy: the step is not cumulative.
"""

from __future__ import annotations

import math

from tensordict import TensorDictBase

from rlclinic.lab.torchrl.learners.base import Columns, Learner, Means, minibatches, normalised
from rlclinic.lab.torchrl.learners.ppo import KL_TOLERANCE
from rlclinic.lab.torchrl.mmrkhs_loss import MMRKHSLoss
from rlclinic.lab.torchrl.optimiser import Optimiser
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.spaces import Spaces

_COLUMNS = {
    "loss_objective": "train/opt/loss/policy",
    "loss_mmd": "train/opt/mmrkhs/mmd_penalty",
    "loss_kl": "train/opt/mmrkhs/kl_penalty",
    "value_loss": "train/opt/loss/value",
    "total": "train/opt/loss/total",
    "max_ratio": "train/opt/policy/max_ratio",
}


class MMRKHSLearner(Learner):
    """Majorisation-minimisation with an MMD and a KL term."""

    def __init__(self, options: Options, spaces: Spaces) -> None:
        super().__init__(options, spaces)
        self.trace = options.number("gae_lambda")
        bandwidth = options.value("mmd_bandwidth")
        self.loss = MMRKHSLoss(
            self.actor,
            self.critic,
            mmd_coef=options.number("mmd_coef"),
            eta=options.number("eta"),
            bandwidth=bandwidth if isinstance(bandwidth, str) else options.number("mmd_bandwidth"),
            entropy_coeff=options.number("ent_coef"),
            critic_coeff=options.number("vf_coef"),
        )
        parts = {"actor": list(self.actor.parameters()), "critic": list(self.critic.parameters())}
        self._optimiser = Optimiser(parts, options)
        self._iteration = 0.0
        self._growth = 1.0
        """How many times its first value eta is: k + 1, held back where the KL passes its target."""

    def optimisers(self) -> dict[str, Optimiser]:
        """One for both networks."""
        return {"networks": self._optimiser}

    def counters(self) -> dict[str, float]:
        """Where the schedules stand."""
        return {"iteration": self._iteration, "growth": self._growth}

    def set_counters(self, counters: dict[str, float]) -> None:
        """Go on from there."""
        self._iteration, self._growth = counters["iteration"], counters["growth"]

    def learn(self, batch: TensorDictBase) -> Columns:
        """Minimise the bound with gradient steps, ended early where the KL passes its target."""
        eta, weight = self._schedule(batch)
        self.loss.schedule(eta=eta, mmd_coef=weight)
        if self.options.flag("normalize_advantage"):
            batch = batch.set("advantage", normalised(batch["advantage"]))
        means, target = Means(), self.options.optional("target_kl")
        value_weight = self.options.number("vf_coef")
        largest, epochs = 0.0, 0
        for _ in range(self.options.whole("n_epochs")):
            epochs += 1
            for part in minibatches(batch, self.options.whole("batch_size")):
                out = self.loss(part)
                total = sum(out[key] for key in out.keys() if key.startswith("loss_"))  # noqa: SIM118 - a tensordict
                self._optimiser.step(total)
                found = {key: float(value.detach()) for key, value in out.items()}
                if value_weight > 0:
                    found["value_loss"] = found["loss_critic"] / value_weight
                means.add({**found, "total": float(total.detach())})
                largest = max(largest, found["kl"])
            if target is not None and largest > KL_TOLERANCE * target:
                break
        self._advance(exceeded=target is not None and largest > target)
        after = self.loss.distances_of(batch)
        return {
            **means.columns(_COLUMNS),
            "train/opt/mmrkhs/mmd": after[0],
            "train/opt/mmrkhs/kl": after[1],
            "train/hp/eta": eta,
            "train/hp/mmd_coef": weight,
            "train/opt/epochs": float(epochs),
        }

    def _schedule(self, batch: TensorDictBase) -> tuple[float, float]:
        """Eta and beta of this iteration.

        The scheduled beta is the mean size of the advantages over sqrt(k + 1), before they are normalised. Where they
        are, the whole bound is divided by their spread, so beta is too; eta is then in units of that spread.
        """
        eta, weight = self.options.number("eta"), self.options.number("mmd_coef")
        if self.options.word("eta_schedule") == "linear":
            eta *= self._growth
        if self.options.word("mmd_coef_schedule") == "advantage":
            advantage = batch["advantage"]
            spread = float(advantage.std()) + 1e-8 if self.options.flag("normalize_advantage") else 1.0
            weight *= float(advantage.abs().mean()) / spread / math.sqrt(self._iteration + 1.0)
        return eta, weight

    def _advance(self, *, exceeded: bool) -> None:
        self._iteration += 1.0
        self._growth = max(self._growth / 2.0, 1.0) if exceeded else self._growth + 1.0
