"""What to train: environment, algorithm and hyperparameters under canonical names, as one frozen value.

A recipe is what `config.json` of a run holds, so a run can be trained again or resumed from its folder alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from types import MappingProxyType
from typing import Any

from rlclinic.lab.derive import settled
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass

# Keys of a config that are no hyperparameters -> fields of Recipe. Every other key is a canonical hyperparameter.
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "framework": "framework",
        "algorithm": "algorithm",
        "env_id": "environment",
        "env_kwargs": "env_kwargs",
        "env_wrappers": "wrappers",
        "total_steps": "total_steps",
        "seed": "seed",
        "threshold": "threshold",
        "stop_at_threshold": "stop_at_threshold",
        "eval_freq": "eval_every",
        "eval_episodes": "eval_episodes",
        "eval_deterministic": "eval_deterministic",
        "checkpoint_freq": "checkpoint_every",
        "log_freq": "log_every",
        "device": "device",
    }
)

# What config.json tells of the environment beside the recipe; `rlclinic_*` tells of the versions.
FACTS = frozenset({"n_actions", "action_shape", "observation_shape"})
# Wrappers that are hyperparameters: name -> what it sets, and the argument that holds the value (else the constant).
KNOWN_WRAPPERS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "normalise": {"normalize_obs": True, "normalize_reward": True},
        "normalize": {"normalize_obs": True, "normalize_reward": True},
        "normalise_observation": {"normalize_obs": True},
        "normalise_reward": {"normalize_reward": True},
        "frame_stack": {"frame_stack": "n"},
        "frame_skip": {"frame_skip": "n"},
        "time_limit": {"max_episode_steps": "max_episode_steps"},
        "reward_scale": {"reward_scale": "scale"},
        "reward_clip": {"reward_clip": "limit"},
    }
)


@dataclass(frozen=True, slots=True)
class Wrapper:
    """An environment wrapper: a name that the lab knows, or `module:Class` of a gymnasium.Wrapper."""

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", MappingProxyType(dict(self.arguments)))

    def __reduce__(self) -> tuple[object, ...]:
        return Wrapper, (self.name, dict(self.arguments))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides a training run. Same recipe, same library versions, same machine: same numbers."""

    framework: str
    """`sb3` or `torchrl`."""
    algorithm: str
    """Upper-case base name: PPO, SAC, MM-RKHS."""
    environment: str
    """A Gymnasium id, or `module:Class`."""
    total_steps: int
    """Budget in env steps over all parallel environments."""
    hyperparameters: Mapping[str, object] = field(default_factory=dict)
    """By the canonical names of reference/hyperparameters.toml, `n_envs` included."""
    seed: int = 0
    env_kwargs: Mapping[str, object] = field(default_factory=dict)
    wrappers: tuple[Wrapper, ...] = ()
    """`module:Class`, innermost first. The names of KNOWN_WRAPPERS become hyperparameters."""
    threshold: float | None = None
    """Evaluation return that counts as solved."""
    stop_at_threshold: bool = True
    eval_every: int = 0
    """Env steps between evaluations; 0 for none."""
    eval_episodes: int = 10
    eval_deterministic: bool = True
    checkpoint_every: int = 0
    """Env steps between checkpoints; 0 for one at the end only."""
    log_every: int = 0
    """Least env steps between two rows of metrics.csv; 0 for a row after every update."""
    device: str = "cpu"
    trust: frozenset[str] = frozenset()
    """Names of environments and wrappers that the user himself wrote: they may be imported, with any arguments. Not a
    part of config.json, which anybody may have written."""

    def __post_init__(self) -> None:
        values = dict(self.hyperparameters)
        for wrapper in self.wrappers:
            if wrapper.name in KNOWN_WRAPPERS:
                values.update(_settings(wrapper))
        object.__setattr__(self, "hyperparameters", MappingProxyType(values))
        object.__setattr__(self, "env_kwargs", MappingProxyType(dict(self.env_kwargs)))
        others = tuple(wrapper for wrapper in self.wrappers if wrapper.name not in KNOWN_WRAPPERS)
        object.__setattr__(self, "wrappers", others)
        object.__setattr__(self, "trust", frozenset(self.trust))
        _check(self)

    def __reduce__(self) -> tuple[object, ...]:
        return recipe_of_config, (self.to_config(), self.trust)

    @property
    def n_envs(self) -> int:
        """Parallel training environments."""
        return int(self.number("n_envs") or 1)

    def get(self, name: str, default: object = None) -> object:
        """A hyperparameter by its canonical name."""
        return self.hyperparameters.get(name, default)

    def number(self, name: str) -> float | None:
        """A hyperparameter if it is a number."""
        value = self.hyperparameters.get(name)
        return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)

    def with_changes(self, changes: Mapping[str, object]) -> Recipe:
        """The recipe with other values, by canonical name or key of FIELDS; None takes a hyperparameter away."""
        own = {FIELDS[key]: value for key, value in changes.items() if key in FIELDS}
        if "wrappers" in own:
            own["wrappers"] = wrappers_of(own["wrappers"])
        values = {**self.hyperparameters, **{key: value for key, value in changes.items() if key not in FIELDS}}
        total = own.get("total_steps", self.total_steps)
        kept = settled(values, int(total), frozenset(changes))  # type: ignore[call-overload]
        return replace(self, hyperparameters=kept, **own)  # type: ignore[arg-type]

    def trusted(self) -> Recipe:
        """The recipe with the environment and wrappers that it names trusted: for one that the caller wrote himself."""
        return replace(self, trust=self.trust | {self.environment, *(wrapper.name for wrapper in self.wrappers)})

    def to_config(self) -> dict[str, Any]:
        """The recipe as the plain object of config.json."""
        config: dict[str, Any] = {key: getattr(self, name) for key, name in FIELDS.items()}
        config["env_kwargs"] = dict(self.env_kwargs)
        config["env_wrappers"] = [{"id": wrapper.name, **wrapper.arguments} for wrapper in self.wrappers]
        return {**config, **self.hyperparameters}


def recipe_of_config(config: Mapping[str, object], trust: Iterable[str] = ()) -> Recipe:
    """The recipe that a config.json of the lab holds; nothing that it names is trusted but what the caller says."""
    missing = sorted({"framework", "algorithm", "env_id", "total_steps"} - set(config))
    if missing:
        raise UsageError(f"the config lacks {', '.join(missing)}", hint="name a run that `rlclinic train` wrote")
    own: dict[str, Any] = {name: config[key] for key, name in FIELDS.items() if key in config}
    own["wrappers"] = wrappers_of(own.get("wrappers", ()))
    kept = {
        key: value
        for key, value in config.items()
        if key not in FIELDS and key not in FACTS and not key.startswith("rlclinic_") and value is not None
    }
    return Recipe(hyperparameters=kept, trust=frozenset(trust), **own)


def wrappers_of(value: object) -> tuple[Wrapper, ...]:
    """Wrappers from a config: a name, a list of names, or of `{id: NAME, argument: value}`."""
    entries = [value] if isinstance(value, str | Mapping | Wrapper) else list(value or ())  # type: ignore[call-overload]
    found: list[Wrapper] = []
    for entry in entries:
        if isinstance(entry, Wrapper):
            found.append(entry)
        elif isinstance(entry, str):
            found.append(Wrapper(entry))
        elif isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
            found.append(Wrapper(entry["id"], {str(key): item for key, item in entry.items() if key != "id"}))
        else:
            raise UsageError(f"env_wrappers: {entry!r} is no wrapper", hint="write a name, or {id: NAME, key: value}")
    return tuple(found)


def _settings(wrapper: Wrapper) -> dict[str, object]:
    """The hyperparameters that a known wrapper stands for."""
    found: dict[str, object] = {}
    for key, value in KNOWN_WRAPPERS[wrapper.name].items():
        if isinstance(value, str):
            if value not in wrapper.arguments:
                raise UsageError(
                    f"the wrapper {wrapper.name} needs {value}", hint=f"{{id: {wrapper.name}, {value}: ...}}"
                )
            found[key] = wrapper.arguments[value]
        else:
            found[key] = value
    return found


# Least value of each whole-number field.
_LEAST = {"total_steps": 1, "seed": 0, "eval_every": 0, "eval_episodes": 1, "checkpoint_every": 0, "log_every": 0}


def _check(recipe: Recipe) -> None:
    keys = {name: key for key, name in FIELDS.items()}
    for name, least in _LEAST.items():
        value = getattr(recipe, name)
        whole = isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()
        if not whole or value < least:
            raise UsageError(f"{keys[name]} = {value!r}", hint=f"a whole number of at least {least}")
        object.__setattr__(recipe, name, int(value))
    for entry in fields(recipe):
        value = getattr(recipe, entry.name)
        if entry.type == "str" and (not isinstance(value, str) or not value):
            raise UsageError(f"{keys.get(entry.name, entry.name)} = {value!r}", hint="a name")
        if entry.type == "bool" and not isinstance(value, bool):
            raise UsageError(f"{keys.get(entry.name, entry.name)} = {value!r}", hint="true or false")
    if recipe.threshold is not None and (isinstance(recipe.threshold, bool) or not _is_number(recipe.threshold)):
        raise UsageError(f"threshold = {recipe.threshold!r}", hint="a number, or null for none")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and value == value
