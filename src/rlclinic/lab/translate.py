"""Values that other frameworks write in their own way, as the lab's trainers take them."""

from __future__ import annotations

import os
from collections.abc import Mapping

# Keys whose words are known by name -> what is one.
KNOWN = {
    "net_arch": "widths of the layers, such as [64, 64]",
    "net_arch_critic": "widths of the layers, such as [64, 64]",
    "policy_class": "MlpPolicy, CnnPolicy or MultiInputPolicy",
    "learning_rate_schedule": "constant or linear",
    "optimizer": "adam, adamw, sgd, rmsprop, adagrad, adamax, nadam or radam",
    "action_noise": "a standard deviation",
}
# gymnasium-solver's model ids.
MODELS = {"mlp_tiny": [64], "mlp_small": [128, 128], "mlp_medium": [256, 256], "mlp_large": [512, 512]}
POLICIES = frozenset({"MlpPolicy", "CnnPolicy", "MultiInputPolicy"})
OPTIMIZERS = frozenset({"adam", "adamw", "sgd", "rmsprop", "adagrad", "adamax", "nadam", "radam"})
_OFF = frozenset({"off", "none", "false", ""})


def translated(values: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """The values in the lab's words, and those that have none."""
    found = {key: value for key, value in values.items() if value is not None}
    left_out: dict[str, object] = {}
    for name, rule in _RULES.items():
        if name in found:
            value = rule(found[name], found)
            if value is None:
                left_out[name] = found.pop(name)
            else:
                found[name] = value
    return found, left_out


def _environments(value: object, _: Mapping[str, object]) -> object:
    return os.cpu_count() or 1 if value == "auto" else value


def _batch(value: object, values: Mapping[str, object]) -> object:
    """gymnasium-solver writes a share of the rollout."""
    steps, n_envs = values.get("n_steps"), _environments(values.get("n_envs", 1), values)
    is_share = isinstance(value, float) and 0 < value <= 1
    if is_share and isinstance(steps, int) and isinstance(n_envs, int):
        return max(int(float(str(value)) * steps * n_envs), 1)
    return value


def _flag(value: object, _: Mapping[str, object]) -> object:
    return value.lower() not in _OFF if isinstance(value, str) else value


def _layers(value: object, _: Mapping[str, object]) -> object:
    if isinstance(value, str):
        return MODELS.get(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    return value if isinstance(value, list | dict) else None


def _policy(value: object, _: Mapping[str, object]) -> object:
    return value if isinstance(value, str) and value in POLICIES else None


def _schedule(value: object, _: Mapping[str, object]) -> object:
    """CleanRL has a flag for it."""
    words = {True: "linear", False: "constant", "lin": "linear", "none": "constant"}
    named = words.get(value, value) if isinstance(value, bool | str) else None
    return named if named in {"linear", "constant"} else None


def _optimizer(value: object, _: Mapping[str, object]) -> object:
    named = str(value).rpartition(".")[2].strip("'>")
    return named if named.lower() in OPTIMIZERS else None


def _noise(value: object, _: Mapping[str, object]) -> object:
    return value if isinstance(value, int | float) else None


_RULES = {
    "n_envs": _environments,
    "batch_size": _batch,
    "normalize_advantage": _flag,
    "normalize_obs": _flag,
    "normalize_reward": _flag,
    "net_arch": _layers,
    "net_arch_critic": _layers,
    "policy_class": _policy,
    "action_noise": _noise,
    "learning_rate_schedule": _schedule,
    "optimizer": _optimizer,
}
