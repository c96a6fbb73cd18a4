"""The hyperparameters of each TorchRL trainer under their canonical names, with defaults, and typed access to them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.distances import BANDWIDTH_RULES
from rlclinic.lab.values import RANGES
from rlclinic.model.errors import UsageError

_ON_POLICY: Mapping[str, object] = {
    "n_envs": 8,
    "n_steps": 256,
    "learning_rate": 3e-4,
    "learning_rate_schedule": "constant",
    "learning_rate_final": 0.0,
    "adam_epsilon": 1e-5,
    "max_grad_norm": 0.5,
    "gamma": 0.99,
    "ent_coef": 0.0,
    "normalize_advantage": True,
    "normalize_obs": False,
    "normalize_reward": False,
    "net_arch": [64, 64],
    "net_arch_critic": None,
    "activation": "tanh",
    "ortho_init": True,
    "log_std_init": 0.0,
}
_EPOCHS: Mapping[str, object] = {
    "gae_lambda": 0.95,
    "batch_size": 256,
    "n_epochs": 10,
    "vf_coef": 0.5,
    "target_kl": None,
}

# algorithm -> canonical hyperparameter -> default; None where there is none (no limit, or the same as another).
DEFAULTS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "PPO": {**_ON_POLICY, **_EPOCHS, "clip_range": 0.2, "clip_range_vf": None},
        # No clipping: the MMD and KL terms alone hold the policy. The bound's beta and eta may follow a schedule.
        "MM-RKHS": {
            **_ON_POLICY,
            **_EPOCHS,
            "mmd_coef": 1.0,
            "mmd_coef_schedule": "constant",
            "mmd_bandwidth": "median",
            "eta": 1.0,
            "eta_schedule": "constant",
        },
        # `n_steps` is the least number of steps per environment: episodes are always played to their end.
        "REINFORCE": {
            **_ON_POLICY,
            "n_steps": 64,
            "learning_rate": 3e-3,
            "baseline": True,
            "learning_rate_critic": None,
            "batch_size": 256,
            "n_epochs": 5,
        },
        "SAC": {
            "n_envs": 1,
            "learning_rate": 3e-4,
            "learning_rate_critic": None,
            "learning_rate_alpha": None,
            "learning_rate_schedule": "constant",
            "learning_rate_final": 0.0,
            "adam_epsilon": 1e-8,
            "max_grad_norm": None,
            "gamma": 0.99,
            "buffer_size": 1_000_000,
            "learning_starts": 100,
            "batch_size": 256,
            "train_freq": 1,
            "gradient_steps": 1,
            "tau": 0.005,
            "ent_coef": "auto",
            "target_entropy": "auto",
            "normalize_obs": False,
            "normalize_reward": False,
            "net_arch": [256, 256],
            "net_arch_critic": None,
            "activation": "relu",
        },
    }
)

# Words that a hyperparameter may take.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "learning_rate_schedule": ("constant", "linear"),
    "mmd_coef_schedule": ("constant", "advantage"),
    "eta_schedule": ("constant", "linear"),
    "activation": ("tanh", "relu", "elu", "gelu"),
}
# Least and greatest value of numbers, the bounds allowed: these losses divide by some that others may set to zero.
_RANGES: Mapping[str, tuple[float, float]] = {
    **RANGES,
    "learning_rate_critic": (0, math.inf),
    "learning_rate_alpha": (0, math.inf),
    "clip_range": (1e-9, math.inf),
    "clip_range_vf": (1e-9, math.inf),
    "target_kl": (0, math.inf),
    "vf_coef": (0, math.inf),
    "mmd_coef": (0, math.inf),
    "eta": (1e-12, math.inf),
}


class Options:
    """The hyperparameters of a recipe with the trainer's defaults beneath; UsageError where a value does not fit."""

    def __init__(self, recipe: Recipe, defaults: Mapping[str, object] | None = None) -> None:
        self._values = {**(DEFAULTS[recipe.algorithm] if defaults is None else defaults), **recipe.hyperparameters}
        for name, words in _WORDS.items():
            if name in self._values and self.word(name) not in words:
                raise _invalid(name, self._values[name], f"one of {', '.join(words)}")
        for name, (low, high) in _RANGES.items():
            value = self.optional(name)
            if value is not None and not low <= value <= high:
                raise _invalid(name, value, f"from {low:g} to {high:g}")
        bandwidth = self._values.get("mmd_bandwidth", 1.0)
        if bandwidth not in BANDWIDTH_RULES and not (_is_number(bandwidth) and bandwidth > 0):  # type: ignore[operator]
            raise _invalid("mmd_bandwidth", bandwidth, f"a positive number, or one of {', '.join(BANDWIDTH_RULES)}")
        self.sizes("net_arch")
        self.sizes("net_arch_critic")

    def optional(self, name: str) -> float | None:
        """A number, or None where none is set."""
        value = self._values.get(name)
        if value is None:
            return None
        if not _is_number(value):
            raise _invalid(name, value, "a number")
        return float(value)  # type: ignore[arg-type]

    def number(self, name: str) -> float:
        """A number that must be there."""
        value = self.optional(name)
        if value is None:
            raise _invalid(name, None, "a number")
        return value

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self.number(name)
        if not value.is_integer():
            raise _invalid(name, value, "a whole number")
        return int(value)

    def flag(self, name: str) -> bool:
        """Yes or no; any other value that is set (`batch`, a table of arguments) means yes."""
        value = self._values.get(name)
        return value.lower() not in {"", "off", "false", "none"} if isinstance(value, str) else bool(value)

    def word(self, name: str) -> str:
        """A name in lower case."""
        return str(self._values.get(name)).lower()

    def value(self, name: str) -> object:
        """Whatever is set."""
        return self._values.get(name)

    def sizes(self, name: str) -> tuple[int, ...]:
        """Hidden layers: a list, or SB3's `{pi: [...], vf: [...]}` and `{pi: [...], qf: [...]}`."""
        value = self._values.get(name)
        if name == "net_arch_critic" and value is None:
            value = self._values.get("net_arch")
        if isinstance(value, Mapping):
            keys = ("vf", "qf") if name == "net_arch_critic" else ("pi",)
            value = next((value[key] for key in keys if key in value), None)
        if not isinstance(value, list | tuple) or not all(isinstance(size, int) and size > 0 for size in value):
            raise _invalid(name, value, "a list of layer sizes such as [64, 64]")
        return tuple(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def _invalid(name: str, value: object, wanted: str) -> UsageError:
    return UsageError(f"{name} = {value!r}", hint=wanted)
