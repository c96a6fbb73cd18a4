"""PPO with TorchRL's clipped loss."""

from __future__ import annotations

from tensordict import TensorDictBase
from torchrl.objectives import ClipPPOLoss

from rlclinic.lab.torchrl.learners.base import Columns, Learner, Means, minibatches
from rlclinic.lab.torchrl.optimiser import Optimiser
from rlclinic.lab.torchrl.options import Options
from rlclinic.lab.torchrl.spaces import Spaces

# A KL of this many times the target ends the epochs of an update: Stable-Baselines3's and Spinning Up's rule.
KL_TOLERANCE = 1.5

_COLUMNS = {
    "loss_objective": "train/opt/loss/policy",
    "value_loss": "train/opt/loss/value",
    "total": "train/opt/loss/total",
    "kl_approx": "train/opt/ppo/kl",
    "clip_fraction": "train/opt/ppo/clip_fraction",
    "value_clip_fraction": "train/opt/ppo/clip_fraction_vf",
}


class PPOLearner(Learner):
    """Proximal policy optimisation."""

    def __init__(self, options: Options, spaces: Spaces) -> None:
        super().__init__(options, spaces)
        self.trace = options.number("gae_lambda")
        self._value_weight = options.number("vf_coef")
        # The module's critic term vanishes with a weight of 0; a critic without loss is then what was asked for.
        self._loss = ClipPPOLoss(
            self.actor,
            self.critic,
            clip_epsilon=options.number("clip_range"),
            entropy_coeff=options.number("ent_coef"),
            critic_coeff=self._value_weight,
            loss_critic_type="l2",
            normalize_advantage=options.flag("normalize_advantage"),
            clip_value=options.optional("clip_range_vf"),
            functional=False,
        )
        parts = {"actor": list(self.actor.parameters()), "critic": list(self.critic.parameters())}
        self._optimiser = Optimiser(parts, options)

    def optimisers(self) -> dict[str, Optimiser]:
        """One for both networks."""
        return {"networks": self._optimiser}

    def learn(self, batch: TensorDictBase) -> Columns:
        """Epochs of minibatches, ended early where the KL passes its target."""
        means, target = Means(), self.options.optional("target_kl")
        epochs = 0
        distances: list[float] = []
        for _ in range(self.options.whole("n_epochs")):
            epochs += 1
            distances = []
            for part in minibatches(batch, self.options.whole("batch_size")):
                out = self._loss(part)
                total = sum(out[key] for key in out.keys() if key.startswith("loss_"))  # noqa: SIM118 - a tensordict
                self._optimiser.step(total)
                found = {key: float(value.detach()) for key, value in out.items()}
                # k3 = mean(ratio - 1 - log ratio), from the two means that the loss gives.
                distances.append(found["mean_ratio"] - 1.0 + found["kl_approx"])
                if self._value_weight > 0 and "loss_critic" in found:
                    found["value_loss"] = found["loss_critic"] / self._value_weight
                means.add({**found, "total": float(total.detach())})
            if target is not None and max(distances) > KL_TOLERANCE * target:
                break
        return {
            **means.columns(_COLUMNS),
            "train/opt/ppo/approx_kl": sum(distances) / len(distances),
            "train/hp/clip_range": self.options.number("clip_range"),
            "train/opt/epochs": float(epochs),
        }
