"""From a name on the command line to a factory of trainers: `sb3:PPO`, `package.module:name`."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from rlclinic.model.errors import UsageError
from rlclinic.store.children import allow_local

ADAPTERS = {"sb3": "rlclinic.probes.adapters.sb3", "torchrl": "rlclinic.probes.adapters.torchrl"}
HINT = "name a trainer as sb3:PPO, torchrl:SAC or package.module:make_trainer"


def check_name(name: str) -> None:
    """Refuse a name that can be no trainer, before any process is started."""
    head, colon, rest = name.partition(":")
    if not colon or not head or not rest:
        raise UsageError(f"{name!r} is no trainer", hint=HINT)
    if head in ADAPTERS:
        return
    allow_local(head)
    try:
        found = importlib.util.find_spec(head)
    except (ImportError, ValueError) as error:
        raise UsageError(f"module {head!r} cannot be found: {error}", path=name, hint=HINT) from error
    if found is None:
        raise UsageError(f"there is no module {head!r}", path=name, hint=HINT)


def load_trainer(name: str) -> Any:
    """The factory. The working directory is on the path, so that a script beside the user is found."""
    check_name(name)
    head, _, rest = name.partition(":")
    if head in ADAPTERS:
        return importlib.import_module(ADAPTERS[head]).make_trainer_of(rest)
    try:
        module = importlib.import_module(head)
    except ModuleNotFoundError as error:
        raise UsageError(f"importing {head} needs {error.name}", path=name, hint=f"pip install {error.name}") from error
    except Exception as error:
        raise UsageError(f"importing {head} raised {type(error).__name__}: {error}", path=name) from error
    factory: Any = module
    for part in rest.split("."):
        factory = getattr(factory, part, None)
        if factory is None:
            raise UsageError(f"module {head} has no {rest!r}", path=name, hint=HINT)
    if not callable(factory):
        raise UsageError(f"{name} is not callable", hint=HINT)
    return as_factory(factory)


def as_factory(candidate: Any) -> Any:
    """A factory as it is; an SB3 algorithm class gets the adapter around it."""
    if isinstance(candidate, type) and any(
        base.__module__.startswith("stable_baselines3.") for base in candidate.__mro__
    ):
        return importlib.import_module(ADAPTERS["sb3"]).SB3Factory(candidate)
    return candidate
