"""What Stable-Baselines3 calls things, shared by its Python syntax and rl-zoo's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Code

ACTIVATIONS = {"tanh": "Tanh", "relu": "ReLU", "elu": "ELU", "leaky_relu": "LeakyReLU", "gelu": "GELU", "silu": "SiLU"}
# Classes that are not written as their name in capitals.
CLASSES = {"CROSSQ": "CrossQ", "MASKABLEPPO": "MaskablePPO", "RECURRENTPPO": "RecurrentPPO"}
KEYS = {
    "exploration_initial": "exploration_initial_eps",
    "exploration_final": "exploration_final_eps",
    "net_arch": "policy_kwargs.net_arch",
    "activation": "policy_kwargs.activation_fn",
    "log_std_init": "policy_kwargs.log_std_init",
    "adam_epsilon": "policy_kwargs.optimizer_kwargs.eps",
    "weight_decay": "policy_kwargs.optimizer_kwargs.weight_decay",
}
# Algorithms that never clip gradients.
UNCLIPPED = ("SAC", "TD3", "DDPG", "TQC", "CROSSQ", "TRPO")
IMPOSSIBLE = {
    **{f"max_grad_norm@{name}": f"{name} of SB3 does not clip gradients" for name in UNCLIPPED},
    **{f"policy_delay@{name}": f"{name} of SB3 updates its actor with its critic" for name in ("SAC", "TQC", "DDPG")},
    **{f"{key}@CROSSQ": "CrossQ has no target network" for key in ("tau", "target_update_interval")},
    **{f"{key}@TRPO": f"TRPO of SB3 has no {key}" for key in ("n_epochs", "ent_coef", "vf_coef")},
    "reward_scale": "SB3 has no reward scale; wrap the environment in gymnasium.wrappers.TransformReward",
    "learning_rate_critic": "SB3 has one learning rate for policy and critic",
    "learning_rate_alpha": "SB3 has one learning rate for policy, critic and temperature",
    "n_minibatches@A2C": "A2C takes one step on the whole rollout",
    "batch_size@A2C": "A2C takes one step on the whole rollout; change n_steps or n_envs",
    "n_epochs@A2C": "A2C takes one step on each rollout",
    "optimizer": "the optimiser of SB3 is a class in policy_kwargs; set optimizer_class there",
}


def activation(value: object) -> object:
    """The module's class as code."""
    name = str(value).rpartition(".")[2].lower()
    if name not in ACTIVATIONS:
        raise CannotWrite(f"{value!r} is not an activation that SB3 configs use: {', '.join(ACTIVATIONS)}")
    return Code(f"nn.{ACTIVATIONS[name]}")


def temperature(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    """`ent_coef` of SAC is a number, `auto`, or `auto_<start>`; elsewhere it is the entropy bonus."""
    before = run.config.get("ent_coef")
    value = wanted.get("ent_coef", None)
    if "autotune_alpha" not in wanted:
        return [Assignment("ent_coef", before, value)]
    if wanted["autotune_alpha"]:
        starts = isinstance(value, int | float) and not isinstance(value, bool)
        return [Assignment("ent_coef", before, f"auto_{value}" if starts else "auto")]
    if not isinstance(value, int | float):
        raise CannotWrite("a fixed temperature needs its value: change ent_coef too")
    return [Assignment("ent_coef", before, value)]


def value_clip(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    """`clip_range_vf=None` is no clipping."""
    before = run.config.get("clip_range_vf")
    if wanted.get("clip_value_loss", True) is False:
        return [Assignment("clip_range_vf", before, None)]
    if "clip_range_vf" not in wanted:
        raise CannotWrite("to clip the value loss SB3 needs the range: change clip_range_vf too")
    return [Assignment("clip_range_vf", before, wanted["clip_range_vf"])]


def normalisation(run: Run, wanted: Mapping[str, object]) -> dict[str, bool]:
    """What VecNormalize shall do with observations and rewards."""
    state = {"norm_obs": "normalize_obs", "norm_reward": "normalize_reward"}
    return {key: bool(wanted.get(name, run.config.get(name, False))) for key, name in state.items()}
