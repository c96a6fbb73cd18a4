"""Canonical hyperparameters as constructor arguments of a Stable-Baselines3 algorithm."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.noise import NormalActionNoise

from rlclinic.lab.recipe import Recipe
from rlclinic.lab.sb3.algorithms import ON_POLICY, algorithm_class
from rlclinic.model.errors import UsageError

# Arguments that other optimisers refuse; SB3's own default sets one of them.
OF_ADAM = frozenset({"adam_epsilon", "adam_betas"})
# canonical -> argument of the algorithm, `policy_kwargs.X`, or `optimizer_kwargs.X` inside them.
ARGUMENTS: Mapping[str, str] = {
    "learning_rate": "learning_rate",
    "n_steps": "n_steps",
    "n_step_return": "n_steps",
    "batch_size": "batch_size",
    "n_epochs": "n_epochs",
    "buffer_size": "buffer_size",
    "learning_starts": "learning_starts",
    "train_freq": "train_freq",
    "gradient_steps": "gradient_steps",
    "max_grad_norm": "max_grad_norm",
    "clip_range": "clip_range",
    "clip_range_vf": "clip_range_vf",
    "target_kl": "target_kl",
    "ent_coef": "ent_coef",
    "target_entropy": "target_entropy",
    "vf_coef": "vf_coef",
    "normalize_advantage": "normalize_advantage",
    "use_sde": "use_sde",
    "exploration_fraction": "exploration_fraction",
    "exploration_initial": "exploration_initial_eps",
    "exploration_final": "exploration_final_eps",
    "action_noise": "action_noise",
    "policy_delay": "policy_delay",
    "target_noise": "target_policy_noise",
    "gamma": "gamma",
    "gae_lambda": "gae_lambda",
    "tau": "tau",
    "target_update_interval": "target_update_interval",
    "net_arch": "policy_kwargs.net_arch",
    "net_arch_critic": "policy_kwargs.net_arch",
    "activation": "policy_kwargs.activation_fn",
    "log_std_init": "policy_kwargs.log_std_init",
    "init_std": "policy_kwargs.log_std_init",
    "ortho_init": "policy_kwargs.ortho_init",
    "n_quantiles": "policy_kwargs.n_quantiles",
    "n_critics": "policy_kwargs.n_critics",
    "optimizer": "policy_kwargs.optimizer_class",
    "adam_epsilon": "optimizer_kwargs.eps",
    "adam_betas": "optimizer_kwargs.betas",
    "weight_decay": "optimizer_kwargs.weight_decay",
    "policy_class": "policy",
}
# What the lab itself does with a hyperparameter, for every algorithm.
LAB = (
    "n_envs", "frame_skip", "frame_stack", "max_episode_steps", "reward_scale", "reward_clip", "normalize_obs",
    "normalize_reward", "learning_rate_schedule", "learning_rate_final",
)  # fmt: skip
# Transitions; a buffer is never made smaller than this to fit the budget.
SMALLEST_BUFFER = 1000
# Arguments that only mean something to one kind of algorithm although both have the word.
_ONLY = {
    "n_steps": ON_POLICY,
    "n_step_return": frozenset({"DQN", "QRDQN", "SAC", "TD3", "TQC"}),
    "net_arch_critic": ON_POLICY | {"SAC", "TD3", "TQC"},
}


def accepted(algorithm: str) -> frozenset[str]:
    """The canonical hyperparameters that an algorithm takes."""
    found = algorithm_class(algorithm)
    own = set(inspect.signature(found.__init__).parameters)
    policy = set(inspect.signature(found.policy_aliases["MlpPolicy"].__init__).parameters)
    names = set(LAB)
    for name, argument in ARGUMENTS.items():
        head, _, tail = argument.partition(".")
        if name in _ONLY and algorithm not in _ONLY[name]:
            continue
        if tail in policy if head == "policy_kwargs" else head in own or head == "optimizer_kwargs":
            names.add(name)
    return frozenset(names)


def constructor_arguments(recipe: Recipe, action_space: Any) -> dict[str, Any]:
    """Keyword arguments for the algorithm's constructor; `policy` is left to the caller."""
    found: dict[str, Any] = {"policy_kwargs": {}}
    optimizer: dict[str, Any] = {}
    for name, value in recipe.hyperparameters.items():
        argument = ARGUMENTS.get(name)
        if argument is None or name == "policy_class":
            continue
        if name in OF_ADAM and not str(recipe.get("optimizer") or "Adam").startswith("Adam"):
            continue
        head, _, tail = argument.partition(".")
        plain = _value(recipe, name, value, action_space)
        if head == "policy_kwargs":
            found["policy_kwargs"][tail] = plain
        elif head == "optimizer_kwargs":
            optimizer[tail] = plain
        else:
            found[head] = plain
    if optimizer:
        found["policy_kwargs"]["optimizer_kwargs"] = optimizer
    if recipe.algorithm == "A2C":
        # Its RMSprop is no argument but a flag, and stands in the way of any other optimiser.
        found["use_rms_prop"] = recipe.get("optimizer", "RMSprop") == "RMSprop" and not optimizer
        if found["use_rms_prop"]:
            found["policy_kwargs"].pop("optimizer_class", None)
    if not found["policy_kwargs"]:
        del found["policy_kwargs"]
    return found


def _value(recipe: Recipe, name: str, value: Any, action_space: Any) -> Any:
    if name == "learning_rate":
        return _schedule(value, recipe.get("learning_rate_schedule"), recipe.number("learning_rate_final"))
    if name in {"clip_range", "clip_range_vf"}:
        return _schedule(value, None, None)
    if name == "init_std":
        return math.log(float(value))
    if name == "activation":
        return _torch_class(name, value, torch.nn.modules.activation)
    if name == "optimizer":
        return _torch_class(name, value, torch.optim)
    if name == "action_noise":
        size = int(np.prod(action_space.shape))
        return NormalActionNoise(np.zeros(size), np.full(size, float(value)))
    if name in {"net_arch", "net_arch_critic"}:
        return _network(recipe)
    if name == "buffer_size":
        # What never fills need not be allocated.
        return int(min(value, max(recipe.total_steps, SMALLEST_BUFFER)))
    if name == "train_freq" and isinstance(value, list | tuple):
        return tuple(value)
    return value


def _network(recipe: Recipe) -> Any:
    layers, critic = recipe.get("net_arch"), recipe.get("net_arch_critic")
    if critic is None or isinstance(layers, Mapping):
        return layers
    return {"pi": layers or critic, "vf" if recipe.algorithm in ON_POLICY else "qf": critic}


def _schedule(value: Any, kind: object, final: float | None) -> float | Callable[[float], float]:
    """A constant, or a straight line over the budget: Stable-Baselines3 passes the share that is left."""
    if isinstance(value, str) and value.startswith("lin_"):
        value, kind = float(value.removeprefix("lin_")), "linear"
    start = float(value)
    if kind in (None, "", "constant"):
        return start
    if kind != "linear":
        raise UsageError(f"learning_rate_schedule = {kind!r}", hint="constant or linear")
    end = final or 0.0
    return lambda left: start * left + end * (1.0 - left)


def _torch_class(name: str, value: object, module: Any) -> Any:
    wanted = str(value).rpartition(".")[2].strip("'>").lower()
    for entry, found in vars(module).items():
        if entry.lower() == wanted and isinstance(found, type) and found.__module__.startswith(module.__name__):
            return found
    raise UsageError(f"{name} = {value!r}", hint=f"the name of a class of {module.__name__}")
