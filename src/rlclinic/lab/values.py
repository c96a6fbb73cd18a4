"""Values of hyperparameters: their type, their range, and what a key means."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rlclinic.lab.backend import ALGORITHMS
from rlclinic.lab.recipe import FIELDS
from rlclinic.model.config import Setting
from rlclinic.model.errors import UsageError
from rlclinic.readers.configs.normalise import canonical_settings
from rlclinic.reference.framework import framework
from rlclinic.reference.hyperparameters import hyperparameters

# Beyond it no setting has a meaning, and trainers that compute in float32 soon have none of their own.
LARGEST = 1e15
# Whole numbers that count something there must be at least one of.
_AT_LEAST_ONE = frozenset(
    {
        "n_steps", "buffer_size", "train_freq", "target_update_interval", "policy_delay", "max_episode_steps",
        "rollout_size", "n_minibatches",
    }
)  # fmt: skip
# Lowest and highest value that has a meaning at all. A bad choice within them is the user's to make.
RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(_AT_LEAST_ONE, (1, math.inf)),
    # Of these so much is made or done at once that a slip would fill the memory or never end.
    "n_envs": (1, 100_000),
    "batch_size": (1, 1e8),
    "n_epochs": (1, 1e6),
    "n_step_return": (1, 10_000),
    "n_critics": (1, 1_000),
    "n_quantiles": (1, 100_000),
    "frame_stack": (1, 1_000),
    "seed": (0, 2**32 - 1),
    "exploration_steps": (0, math.inf),
    "update_to_data": (0, 1e6),
    "gamma": (0, 1),
    "gae_lambda": (0, 1),
    "tau": (0, 1),
    "exploration_fraction": (0, 1),
    "exploration_initial": (0, 1),
    "exploration_final": (0, 1),
    "learning_rate": (0, math.inf),
    "learning_rate_final": (0, math.inf),
    "max_grad_norm": (0, math.inf),
    "target_kl": (0, math.inf),
    "clip_range": (0, math.inf),
    "clip_range_vf": (0, math.inf),
    "adam_epsilon": (0, math.inf),
    "weight_decay": (0, math.inf),
    "init_std": (1e-12, math.inf),
    "learning_starts": (0, math.inf),
    "gradient_steps": (-1, 1e6),
    "action_noise": (0, math.inf),
}
# Keys of FIELDS that are no canonical hyperparameters -> their kind.
_OWN_KINDS = {
    "framework": "text", "env_kwargs": "any", "stop_at_threshold": "flag", "checkpoint_freq": "integer",
    "log_freq": "integer",
}  # fmt: skip
# Fields that change neither the task nor the code that is run.
_FREE = frozenset(
    {
        "seed", "total_steps", "threshold", "stop_at_threshold", "eval_freq", "eval_episodes", "eval_deterministic",
        "checkpoint_freq", "log_freq",
    }
)  # fmt: skip
# Before a number that may be written with a schedule, as `lin_3e-4`.
_LINEAR = "lin_"
# Units of a layer.
_WIDEST = 100_000
_WORDS = {"true": True, "false": False, "yes": True, "no": False, "null": None, "none": None}


def parse_override(text: str, algorithm: str, accepted: Iterable[str], frameworks: Iterable[str]) -> tuple[str, object]:
    """`key=value` as canonical key and typed value. The key may be canonical or the library's own."""
    key, separator, written = text.partition("=")
    if not separator or not key.strip():
        raise UsageError(f"override {text!r}", hint="write key=value, for example learning_rate=3e-4")
    name = canonical_key(key.strip(), algorithm, accepted, frameworks)
    return name, typed(name, plain(written.strip()))


def canonical_key(key: str, algorithm: str, accepted: Iterable[str], frameworks: Iterable[str]) -> str:
    """The canonical name of a key that this algorithm takes; UsageError with the nearest one otherwise."""
    known = {*accepted, *FIELDS}
    if key in known:
        return key
    tables = [framework(name) for name in frameworks]
    found = next(iter(canonical_settings({key: Setting(key, 0, key)}, tables, algorithm)), None)
    if found in known:
        return str(found)
    if key in hyperparameters() or found is not None:
        raise UsageError(f"{algorithm} takes no {key}", hint=f"it takes {', '.join(sorted(set(accepted)))}")
    raise UsageError(f"unknown hyperparameter {key!r}", hint=_nearest(key, known))


def is_setting(key: str) -> bool:
    """Whether a key, canonical or a library's own, sets how the agent learns, how long and how it is judged, and
    nothing else under any of its readings: neither code nor another task. A key that nothing is known of does not."""
    if key in FIELDS or key in hyperparameters():
        return _is_free(key)
    setting = {key: Setting(key, 0, key)}
    tables = [framework(name) for name in (*ALGORITHMS, "rlclinic", "gymnasium-solver", "sb3-zoo")]
    algorithms = {"", *(name for names in ALGORITHMS.values() for name in names)}
    found = {name for table in tables for each in algorithms for name in canonical_settings(setting, [table], each)}
    return bool(found) and all(map(_is_free, found))


def _is_free(name: str) -> bool:
    entry = hyperparameters().get(name)
    return name in _FREE or (name not in FIELDS and entry is not None and entry.group != "identity")


def plain(text: str) -> object:
    """A written value as plain data: number, flag, null, list, mapping, or the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for read in (json.loads, float):
        try:
            value: object = read(text)
        except ValueError:
            continue
        return value
    return text


def typed(name: str, value: object) -> object:
    """The value as its hyperparameter's kind; UsageError where it is none or outside of its range."""
    entry = hyperparameters().get(name)
    kind = _OWN_KINDS.get(name) or (entry.kind if entry is not None else "any")
    if isinstance(value, str) and kind in {"number", "integer", "any"}:
        # YAML reads 1e-3 as a text.
        value = plain(value)
    if value is None:
        return None
    if kind == "text":
        value = str(value)
    _check_range(name, value)
    fits, wanted = _SHAPES.get(name) or _KINDS[kind]
    if not fits(value):
        raise UsageError(f"{name} = {shown(value)}", hint=wanted)
    if isinstance(value, str) and value.startswith(_LINEAR):
        _check_range(name, plain(value.removeprefix(_LINEAR)))
    return int(value) if kind == "integer" else value  # type: ignore[call-overload]


def shown(value: object) -> str:
    """A value as a message quotes it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and float(value).is_integer()


def _is_scheduled(value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith(_LINEAR) and _is_number(plain(value.removeprefix(_LINEAR)))
    return _is_number(value)


def _is_layers(value: object) -> bool:
    return isinstance(value, list | tuple) and all(type(width) is int and 0 < width <= _WIDEST for width in value)


def _is_network(value: object) -> bool:
    """Also one number for one layer, the name of a network, or layers by part."""
    if isinstance(value, Mapping):
        return value.keys() <= {"pi", "vf", "qf"} and all(map(_is_layers, value.values()))
    return isinstance(value, str) or _is_layers([value]) or _is_layers(value)


def _is_betas(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(_is_number(part) and 0 <= part < 1 for part in value)
    )


def _is_frequency(value: object) -> bool:
    if isinstance(value, list | tuple):
        return len(value) == 2 and _is_whole(value[0]) and value[0] >= 1 and value[1] in ("step", "episode")
    return _is_whole(value)


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "any": (lambda _: True, ""),
    "text": (lambda value: isinstance(value, str), "a word"),
    "flag": (lambda value: isinstance(value, bool), "true or false"),
    "number": (_is_number, "a number"),
    "integer": (_is_whole, "a whole number"),
}
_SCHEDULE = (_is_scheduled, f"a number, or {_LINEAR} and a number for a linear schedule")
_LAYERS = (_is_network, f"widths of the layers, from 1 to {_WIDEST:,}, such as [64, 64]")
_MODE = (
    lambda value: isinstance(value, bool | Mapping) or _matches("off|none|batch|rollout")(value),
    "true or false",
)
# Values of several shapes, or with words of their own -> whether one fits, and what does.
_SHAPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("learning_rate", "learning_rate_critic", "clip_range", "clip_range_vf"), _SCHEDULE),
    **dict.fromkeys(("net_arch", "net_arch_critic"), _LAYERS),
    **dict.fromkeys(("normalize_obs", "normalize_reward", "normalize_advantage"), _MODE),
    "adam_betas": (_is_betas, "two numbers of at least 0 and below 1, such as [0.9, 0.999]"),
    "train_freq": (_is_frequency, 'a whole number, or a number and its unit, such as [1, "episode"]'),
    "ent_coef": (
        lambda value: _is_number(value) or _matches(r"auto(_\d+(\.\d+)?)?")(value),
        "a number; of SAC and TQC also auto, or auto_ and the first value",
    ),
    "target_entropy": (lambda value: _is_number(value) or value == "auto", "a number, or auto"),
    "reward_clip": (lambda value: isinstance(value, bool) or (_is_number(value) and value >= 0), "a limit, or true"),
    "action_noise": (_is_number, "a standard deviation"),
    "total_steps": (_is_whole, "a whole number of env steps"),
    "device": (_matches(r"auto|cpu|mps|cuda(:\d{1,3})?"), "auto, cpu, mps, cuda or cuda:NUMBER"),
    "env_kwargs": (lambda value: isinstance(value, Mapping), 'arguments by name, such as {"gravity": 9.8}'),
    "env_wrappers": (lambda value: isinstance(value, str | list | tuple | Mapping), "a name, or a list of them"),
}


def _check_range(name: str, value: object) -> None:
    if not _is_number(value):
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{name} = {value}", hint="a finite number")
    low, high = RANGES.get(name, (-LARGEST, LARGEST))
    high = min(high, LARGEST)
    if not low <= value <= high:  # type: ignore[operator]
        side = f"at least {low:g}" if value < low else f"at most {high:g}"  # type: ignore[operator]
        wanted = f"between {low:g} and {high:g}" if high <= 1 else side
        raise UsageError(f"{name} = {shown(value)} is out of range", hint=wanted)


def _nearest(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key, list(known), n=3, cutoff=0.6)
    return f"did you mean {', '.join(close)}?" if close else f"known are {', '.join(sorted(known))}"
