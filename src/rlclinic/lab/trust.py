"""What a recipe may import and call. Importing executes, so a name that stands in a file is not enough.

Names that the user wrote himself (`--trust`, the command line, Python) are in `Recipe.trust`. Everything else comes
from a config or a run that anybody may have made: of it only Gymnasium's registered environments with plain arguments
and the harmless wrappers below are made.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from rlclinic.lab.recipe import Recipe, Wrapper
from rlclinic.lab.values import LARGEST, shown
from rlclinic.model.errors import UsageError

HOME = "gymnasium.wrappers"
# Wrappers that neither write, show nor call anything -> the arguments that they take from a file, and of which kind.
HARMLESS: Mapping[str, Mapping[str, str]] = {
    name: dict(pair.split(":") for pair in arguments.split())
    for name, arguments in {
        "AtariPreprocessing": "noop_max:count frame_skip:few screen_size:sizes terminal_on_life_loss:flag "
        "grayscale_obs:flag grayscale_newaxis:flag scale_obs:flag",
        "Autoreset": "",
        "ClipAction": "",
        "ClipReward": "min_reward:limit max_reward:limit",
        "DelayObservation": "delay:few",
        "FilterObservation": "filter_keys:names",
        "FlattenObservation": "",
        "FrameStackObservation": "stack_size:few padding_type:word",
        "GrayscaleObservation": "keep_dim:flag",
        "MaxAndSkipObservation": "skip:few",
        "NormalizeObservation": "epsilon:number",
        "NormalizeReward": "gamma:number epsilon:number",
        "OrderEnforcing": "",
        "PassiveEnvChecker": "",
        "RecordEpisodeStatistics": "buffer_length:count",
        "RescaleAction": "min_action:number max_action:number",
        "RescaleObservation": "min_obs:number max_obs:number",
        "ReshapeObservation": "shape:sizes",
        "ResizeObservation": "shape:sizes",
        "StickyAction": "repeat_action_probability:number repeat_action_duration:sizes",
        "TimeAwareObservation": "flatten:flag normalize_time:flag",
        "TimeLimit": "max_episode_steps:count",
    }.items()
}
# A word that names neither a module nor a file.
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]*")
# `module:Class`, or `module:Name-v0`.
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_./-]*", re.ASCII)
# How long and how deep an argument from a file may be.
_MOST_ITEMS, _DEEPEST = 10_000, 8
# What a kind of argument is, and whether a value is one. Frames and sizes are small: they are held in memory.
_FEW, _LARGEST_SIZE = 1_000, 10_000
_ARGUMENTS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "count": ("a whole number", lambda value: type(value) is int and 0 <= value <= LARGEST),
    "few": (f"a whole number of at most {_FEW:,}", lambda value: type(value) is int and 0 <= value <= _FEW),
    "number": ("a number", lambda value: type(value) in (int, float) and abs(value) <= LARGEST),
    "limit": ("a number or null", lambda value: value is None or _ARGUMENTS["number"][1](value)),
    "word": ("a word", lambda value: isinstance(value, str)),
    "names": ("a list of names", lambda value: _is_list(value, lambda item: type(item) in (str, int))),
    "sizes": (
        f"a whole number from 1 to {_LARGEST_SIZE:,}, or a list of them",
        lambda value: _is_list(value if isinstance(value, list | tuple) else [value], _is_size),
    ),
}


def check_trust(recipe: Recipe) -> None:
    """UsageError where making the environment would run code, or take arguments, that only a file asks for."""
    name = recipe.environment
    if name not in recipe.trust:
        if ":" in name:
            raise refusal("environment", name, name)
        check_arguments(f"environment {name}", name, recipe.env_kwargs)
    for wrapper in recipe.wrappers:
        check_wrapper(wrapper, recipe.trust)


def whole_name(wrapper: str) -> str:
    """The `module:Class` that a wrapper's name means."""
    return wrapper if ":" in wrapper else f"{HOME}:{wrapper}"


def source_of(module: str) -> str:
    """The file that importing a module would run, found without importing anything; empty where there is none."""
    path: list[str] | None = [*sys.path, str(Path.cwd())]
    found: ModuleSpec | None = None
    for part in module.split("."):
        found = PathFinder.find_spec(part, path) if path is not None else None
        if found is None:
            return ""
        path = None if found.submodule_search_locations is None else list(found.submodule_search_locations)
    return "" if found is None else found.origin or next(iter(path or ()), "")


def check_wrapper(wrapper: Wrapper, trust: frozenset[str]) -> None:
    """UsageError where making the wrapper would run code, or take arguments, that only a file asks for."""
    name = whole_name(wrapper.name)
    home, _, short = name.partition(":")
    known = HARMLESS.get(short) if home == HOME else None
    if name not in trust and wrapper.name not in trust:
        if known is None:
            raise refusal("wrapper", wrapper.name, name)
        foreign = sorted(set(wrapper.arguments) - set(known))
        if foreign:
            told = f"the wrapper {wrapper.name} takes no {foreign[0]!r} from a file"
            raise UsageError(told, hint=f"if you want it: --trust {name}")
        check_arguments(f"wrapper {wrapper.name}", name, wrapper.arguments)
    for key, kind in (known or {}).items():
        wanted, fits = _ARGUMENTS[kind]
        if key in wrapper.arguments and not fits(wrapper.arguments[key]):
            raise UsageError(f"the wrapper {wrapper.name}: {key} = {shown(wrapper.arguments[key])}", hint=wanted)


def _is_size(value: object) -> bool:
    return type(value) is int and 1 <= value <= _LARGEST_SIZE


def _is_list(value: object, fits: Callable[[object], bool]) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(fits, value))


def check_arguments(what: str, name: str, arguments: Mapping[str, object]) -> None:
    """Numbers, flags and plain words only: a text may name a module or a file (`env_id`, `xml_file`)."""
    pending: list[tuple[str, object, int]] = [(key, value, 0) for key, value in arguments.items()]
    for count, (key, value, depth) in enumerate(pending):
        if depth > _DEEPEST or count > _MOST_ITEMS:
            raise UsageError(f"the {what}: its argument {key!r} is too large", hint="write a smaller one")
        if isinstance(value, str) and not _PLAIN.fullmatch(value):
            raise UsageError(
                f"the {what}: {key} = {value[:80]!r} may name a module or a file, and comes from a file itself",
                hint=f"if you want it: --trust {shlex.quote(name)}",
            )
        items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        pending += [(key, item, depth + 1) for pair in items for item in pair]


def refusal(what: str, name: str, whole: str) -> UsageError:
    """What to tell of code that only a file names."""
    if not _CODE.fullmatch(whole):
        return UsageError(f"{name[:80]!r} names no {what}", hint="a Gymnasium id such as CartPole-v1, or module:Class")
    source = source_of(whole.partition(":")[0])
    where = f"importing it would run {source}" if source else "there is no such module here"
    return UsageError(
        f"the {what} {name} is code that only a file names, so it is not imported; {where}",
        hint=f"if you trust that code: --trust {whole}",
    )
