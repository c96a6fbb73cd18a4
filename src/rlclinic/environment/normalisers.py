"""Set wrappers with running statistics aside: they change with every step by design, and the task stays what it is."""

from __future__ import annotations

from typing import Any

from rlclinic.model.environment_facts import Normaliser

HELD = ("env", "venv", "vector")
"""What wrappers, and views of vector environments, call what they hold."""


def without_statistics(environment: Any, *, observations: bool) -> tuple[Any, tuple[Normaliser, ...]]:
    """The environment without what divides rewards, and observations if asked, by running statistics; and what did."""
    found: list[Normaliser] = []
    outer, layer = None, environment
    while layer is not None:
        does = _divides(layer)
        found += [Normaliser(thing, type(layer).__name__) for thing in does]
        key = next((key for key in HELD if key in getattr(layer, "__dict__", {})), "")
        inner = vars(layer)[key] if key else None
        if not does or ("observations" in does and not observations):
            outer = layer, key
        elif outer is None:
            environment = inner
        else:
            setattr(*outer, inner)
        layer = inner
    return environment, tuple(found)


def _divides(layer: Any) -> list[str]:
    names = {one.__name__ for one in type(layer).__mro__}
    both = "VecNormalize" in names
    does = {
        "rewards": "NormalizeReward" in names or (both and layer.norm_reward),
        "observations": "NormalizeObservation" in names or (both and layer.norm_obs),
    }
    return [thing for thing, done in does.items() if done]
