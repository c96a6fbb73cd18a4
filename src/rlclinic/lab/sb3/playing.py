"""The policy of a run that `rlclinic train` made with Stable-Baselines3, from its checkpoint of plain tensors."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rlclinic.lab.checkpoints import last_checkpoint, loading
from rlclinic.lab.evaluation import Act
from rlclinic.lab.folder import CHECKPOINTS, check_own, open_folder
from rlclinic.lab.instruments.episodes import EpisodeLog
from rlclinic.lab.recipe import Recipe
from rlclinic.lab.sb3.model import build_model, policy_function
from rlclinic.lab.sb3.saving import load_model
from rlclinic.model.errors import UsageError


def policy_of(path: Path, trust: Iterable[str] = ()) -> tuple[Recipe, Act]:
    """The recipe and the policy of the best checkpoint, or the last; nothing is unpickled."""
    recipe, model = model_of(path, trust)
    return recipe, policy_function(model, deterministic=recipe.eval_deterministic)


def model_of(path: Path, trust: Iterable[str] = ()) -> tuple[Recipe, Any]:
    """The recipe and the whole model, with one environment and a small replay."""
    folder = open_folder(path)
    check_own(folder.path)
    recipe = folder.recipe(trust)
    if recipe.framework != "sb3":
        raise UsageError(f"policies of {recipe.framework} are not played", path=str(path), hint="one trained with sb3")
    best = folder.path / CHECKPOINTS / "@best"
    saved = last_checkpoint(folder.path)
    if saved is None:
        raise UsageError("has no checkpoint", path=str(path), hint="train it to its first checkpoint")
    small = {"buffer_size": 1000} if recipe.get("buffer_size") else {}
    with warnings.catch_warnings():
        # One environment makes another rollout than the run had; nothing is trained here.
        warnings.simplefilter("ignore")
        model: Any = build_model(recipe.with_changes({"n_envs": 1, **small}), EpisodeLog())
    chosen = best.resolve() if best.is_dir() else saved.path
    with loading(chosen):
        load_model(model, chosen)
    return recipe, model
