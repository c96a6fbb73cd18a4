"""The chance of an environment: every generator that it and its wrappers hold, and those of the process."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np

_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random, gymnasium.Space)


def set_chance(environment: Any, seed: int) -> None:
    """Give every source of chance that the environment or a wrapper holds, and the global ones, this seed."""
    for place, source in enumerate(chance_of(environment)):
        _seed(source, seed + 7919 * place)
    global_chance(seed)


def copy_chance(source: Any, target: Any) -> None:
    """Give an environment the chance of another that is built like it."""
    for one, other in zip(chance_of(source), chance_of(target), strict=False):
        if isinstance(one, np.random.Generator) and isinstance(other, np.random.Generator):
            other.bit_generator.state = one.bit_generator.state
        elif isinstance(one, np.random.RandomState) and isinstance(other, np.random.RandomState):
            other.set_state(one.get_state())
        elif isinstance(one, random.Random) and isinstance(other, random.Random):
            other.setstate(one.getstate())


def global_chance(seed: int) -> None:
    """Seed the generators of the process; only ever called in the child process."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))


def chance_of(environment: Any) -> list[Any]:
    """Every generator that the environment and its wrappers hold, in a fixed order."""
    return list(_generators(environment))


def _generators(environment: Any) -> Iterator[Any]:
    seen: set[int] = set()
    layer = environment
    while layer is not None and id(layer) not in seen:
        seen.add(id(layer))
        for value in list(getattr(layer, "__dict__", {}).values()):
            if isinstance(value, _GENERATORS) and id(value) not in seen:
                seen.add(id(value))
                yield value
            elif type(value).__module__.partition(".")[0] not in ("numpy", "builtins", "mujoco"):
                for inner in list(getattr(value, "__dict__", {}).values()):
                    if isinstance(inner, _GENERATORS) and id(inner) not in seen:
                        seen.add(id(inner))
                        yield inner
        for space in ("action_space", "observation_space"):
            found = getattr(layer, space, None)
            if isinstance(found, gymnasium.Space) and id(found) not in seen:
                seen.add(id(found))
                yield found
        layer = layer.__dict__.get("env") if hasattr(layer, "__dict__") else None


def _seed(source: Any, seed: int) -> None:
    if isinstance(source, gymnasium.Space):
        source.seed(seed % (1 << 31))
    elif isinstance(source, np.random.Generator):
        fresh = type(source.bit_generator)(seed)
        source.bit_generator.state = fresh.state
    else:
        source.seed(seed % (1 << 32))
