"""What config.json tells beside the recipe: the spaces that rules measure against, and the versions it ran with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rlclinic.lab.recipe import Recipe

PACKAGES = ("stable-baselines3", "sb3-contrib", "torchrl", "torch", "gymnasium", "numpy")


def facts_of(recipe: Recipe) -> dict[str, Any]:
    """Spaces and versions, as plain values."""
    # A trial of the user's own command needs no gymnasium.
    from rlclinic.lab.environments import check_environment

    observations, actions = check_environment(recipe)
    found: dict[str, Any] = {"rlclinic_versions": {"python": platform.python_version(), **_versions()}}
    if hasattr(actions, "n"):
        found["n_actions"] = int(actions.n)
    elif actions.shape is not None:
        found["action_shape"] = list(actions.shape)
    if observations.shape is not None:
        found["observation_shape"] = list(observations.shape)
    return found


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
