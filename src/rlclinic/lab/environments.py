"""Make the environment of a recipe: by Gymnasium id or `module:Class`, with its wrappers and its watch."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.recipe import Recipe, Wrapper
from rlclinic.lab.trust import check_trust, whole_name
from rlclinic.lab.values import typed
from rlclinic.model.errors import UsageError
from rlclinic.store.children import allow_local

try:
    import gymnasium
    from gymnasium import wrappers as gymnasium_wrappers
except ModuleNotFoundError as missing:
    raise UsageError("training needs gymnasium", hint="pip install 'rlclinic[train]'") from missing

from rlclinic.lab.instruments.observe import Observe
from rlclinic.lab.instruments.watch import EpisodeWatch, RepeatAction, RewardChange, StackImages

# `package:Name-v0` is Gymnasium's way to import the package that registers an id.
_REGISTERED = re.compile(r"-v\d+$")


def make_environment(recipe: Recipe, log: EpisodeLog | None = None) -> Any:
    """One environment. With a log it is for training: watched, and with the reward changes that only training sees."""
    check_trust(recipe)
    for name in ("frame_skip", "max_episode_steps", "frame_stack", "reward_scale", "reward_clip"):
        typed(name, recipe.get(name))
    environment = dressed(_base(recipe), recipe)
    if log is not None:
        environment = EpisodeWatch(environment, log)
        scale, clip = recipe.number("reward_scale"), recipe.get("reward_clip")
        if scale not in (None, 1.0) or clip:
            environment = RewardChange(environment, scale or 1.0, 1.0 if clip is True else clip)
        if log.recorder is not None:
            environment = Observe(environment, recorder=log.recorder)
    return environment


def dressed(environment: Any, recipe: Recipe) -> Any:
    """The environment within the wrappers of a recipe, whose trust was checked."""
    skip, limit = recipe.number("frame_skip"), recipe.number("max_episode_steps")
    if skip and skip > 1:
        environment = RepeatAction(environment, int(skip))
    if limit:
        environment = gymnasium_wrappers.TimeLimit(environment, int(limit))
    for wrapper in recipe.wrappers:
        environment = _wrapped(environment, wrapper)
    stack = int(recipe.number("frame_stack") or 1)
    return _stacked(environment, stack) if stack > 1 else environment


def make_environments(recipe: Recipe, log: EpisodeLog) -> list[Callable[[], Any]]:
    """One maker per parallel training environment; all report to the log."""
    return [lambda: make_environment(recipe, log) for _ in range(recipe.n_envs)]


def check_environment(recipe: Recipe) -> tuple[Any, Any]:
    """The observation and action space; UsageError where the environment cannot be made."""
    environment = make_environment(recipe)
    spaces = environment.observation_space, environment.action_space
    environment.close()
    return spaces


def _base(recipe: Recipe) -> Any:
    name, arguments = recipe.environment, dict(recipe.env_kwargs)
    if ":" in name and not _REGISTERED.search(name):
        found = _load(name, gymnasium.Env, "environment")
        return _call(lambda: found(**arguments), name)
    if ":" in name:
        allow_local(name.partition(":")[0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Using the latest versioned environment")
        return _call(lambda: gymnasium.make(name, disable_env_checker=True, **arguments), name)


def _call(make: Callable[[], Any], name: str) -> Any:
    try:
        return make()
    except gymnasium.error.UnregisteredEnv as error:
        raise UsageError(f"no environment is called {name!r}", hint=_suggestion(name)) from error
    except gymnasium.error.DependencyNotInstalled as error:
        raise UsageError(f"{name} needs a package that is not installed: {error}", hint="install it") from error
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise UsageError(f"the environment {name} could not be made: {told}", hint="check its arguments") from error


def _suggestion(name: str) -> str:
    known = list(gymnasium.registry)
    by_case = {entry.lower(): entry for entry in known}
    close = difflib.get_close_matches(name.lower(), by_case, n=3, cutoff=0.6)
    if close:
        return f"did you mean {', '.join(by_case[entry] for entry in close)}?"
    return "a Gymnasium id such as CartPole-v1, or module:Class"


def _wrapped(environment: Any, wrapper: Wrapper) -> Any:
    found = _load(whole_name(wrapper.name), gymnasium.Wrapper, "wrapper")
    return _call(lambda: found(environment, **wrapper.arguments), wrapper.name)


def _stacked(environment: Any, count: int) -> Any:
    shape = environment.observation_space.shape
    if shape is not None and len(shape) == 3:
        return StackImages(environment, count)
    return gymnasium_wrappers.FrameStackObservation(environment, count)


def _load(name: str, base: type, what: str) -> Any:
    """A class by `module:Class`, which `check_trust` has let pass. Only a subclass of `base` is ever called."""
    module, _, attribute = name.partition(":")
    allow_local(module)
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError as error:
        raise UsageError(f"the {what} {name} cannot be imported: {error}", hint="write module:Class") from error
    if not (isinstance(found, type) and issubclass(found, base)):
        kind = f"{base.__module__.partition('.')[0]}.{base.__name__}"
        raise UsageError(f"{name} is no {kind}", hint=f"name a subclass of {kind} as module:Class")
    return found
