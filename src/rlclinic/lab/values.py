"""Values of hyperparameters: their type, their range, and what a key means."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Mapping

from rlclinic.lab.backend import ALGORITHMS
from rlclinic.lab.recipe import FIELDS
from rlclinic.model.config import Setting
from rlclinic.model.errors import UsageError
from rlclinic.readers.configs.normalise import canonical_settings
from rlclinic.reference.framework import framework
from rlclinic.reference.hyperparameters import hyperparameters

# Whole numbers that count something there must be at least one of.
_AT_LEAST_ONE = frozenset(
    {
        "n_envs", "n_steps", "batch_size", "n_epochs", "buffer_size", "train_freq", "target_update_interval",
        "n_critics", "n_quantiles", "policy_delay", "frame_stack", "max_episode_steps", "n_step_return",
        "rollout_size", "n_minibatches",
    }
)  # fmt: skip
# Lowest and highest value that has a meaning at all. A bad choice within them is the user's to make.
RANGES: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(_AT_LEAST_ONE, (1, math.inf)),
    "gamma": (0, 1),
    "gae_lambda": (0, 1),
    "tau": (0, 1),
    "exploration_fraction": (0, 1),
    "exploration_initial": (0, 1),
    "exploration_final": (0, 1),
    "learning_rate": (0, math.inf),
    "learning_rate_final": (0, math.inf),
    "max_grad_norm": (0, math.inf),
    "clip_range": (0, math.inf),
    "clip_range_vf": (0, math.inf),
    "adam_epsilon": (0, math.inf),
    "weight_decay": (0, math.inf),
    "init_std": (1e-12, math.inf),
    "learning_starts": (0, math.inf),
    "gradient_steps": (-1, math.inf),
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
# Numbers that may be written with a schedule, as `lin_3e-4`.
_SCHEDULED = frozenset({"learning_rate", "learning_rate_critic", "clip_range", "clip_range_vf"})
_LINEAR = "lin_"
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
    nothing else under any of its readings: neither code nor another task."""
    if key in FIELDS or key in hyperparameters():
        return _is_free(key)
    setting = {key: Setting(key, 0, key)}
    tables = [framework(name) for name in (*ALGORITHMS, "rlclinic", "gymnasium-solver", "sb3-zoo")]
    algorithms = {"", *(name for names in ALGORITHMS.values() for name in names)}
    found = {name for table in tables for each in algorithms for name in canonical_settings(setting, [table], each)}
    return all(map(_is_free, found))


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
    if isinstance(value, str) and name in _SCHEDULED and not _is_schedule(value):
        raise UsageError(f"{name} = {value!r}", hint=f"a number, or {_LINEAR} and a number for a linear schedule")
    if value is None or kind == "any":
        pass
    elif kind == "text":
        value = str(value)
    elif kind == "flag":
        if not isinstance(value, bool):
            raise UsageError(f"{name} = {value!r}", hint="true or false")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} = {value!r}", hint=f"a {'whole ' if kind == 'integer' else ''}number")
    elif kind == "integer":
        if not float(value).is_integer():
            raise UsageError(f"{name} = {value!r}", hint="a whole number")
        value = int(value)
    _check_range(name, value)
    return value


def _is_schedule(text: str) -> bool:
    return text.startswith(_LINEAR) and not isinstance(plain(text.removeprefix(_LINEAR)), str)


def _check_range(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not math.isfinite(value):
        raise UsageError(f"{name} = {value!r}", hint="a finite number")
    low, high = RANGES.get(name, (-math.inf, math.inf))
    if not low <= value <= high:
        wanted = f"between {low:g} and {high:g}" if math.isfinite(high) else f"at least {low:g}"
        raise UsageError(f"{name} = {value:g} is out of range", hint=wanted)


def _nearest(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key, list(known), n=3, cutoff=0.6)
    return f"did you mean {', '.join(close)}?" if close else f"known are {', '.join(sorted(known))}"
