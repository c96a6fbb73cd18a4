"""The settings of an offline run: from which data, how close to them, and what follows online."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.options import Options
from rlclinic.model.errors import UsageError
from rlclinic.reference.algorithms import TRAINED

ALGORITHMS = TRAINED["d3rlpy"]
_BASE: Mapping[str, object] = {
    "dataset": None,
    "batch_size": 256,
    "learning_rate": 3e-4,
    "gamma": 0.99,
    "net_arch": [256, 256],
    "activation": "relu",
    "dropout": None,
    "normalize_obs": True,
    "reward_scale": 1.0,
    "n_envs": 1,
    "max_episode_steps": None,
    "frame_skip": None,
    "frame_stack": None,
}
_VALUED: Mapping[str, object] = {
    "learning_rate_critic": None,
    "tau": 0.005,
    "target_update_interval": 500,
    "n_critics": 2,
    "online_steps": 0,
    "online_share": 0.5,
}
# The weight of staying near the data: of CQL's term, of the cloning term of TD3+BC (1 / alpha), and of the temperature
# of IQL's advantages (1 / beta). Defaults are those of the papers.
DEFAULTS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "CQL": {**_BASE, **_VALUED, "conservative_weight": 1.0},
        "IQL": {**_BASE, **_VALUED, "expectile": 0.7, "conservative_weight": 1.0 / 3.0},
        "TD3PLUSBC": {**_BASE, **_VALUED, "conservative_weight": 0.4},
        "DT": {**_BASE, "batch_size": 64, "net_arch": [64], "context_size": 20, "target_return": None},
    }
)
_LEAST = {"batch_size": 2, "n_critics": 1, "online_steps": 0, "target_update_interval": 1, "context_size": 1}


class OfflineOptions(Options):
    """The hyperparameters of a recipe with the defaults of its algorithm beneath; UsageError where one does not fit."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe, DEFAULTS[recipe.algorithm])
        if not isinstance(self.value("dataset"), str) or not self.value("dataset"):
            raise UsageError("no data set is named", hint="rlclinic offline DATASET, or -o dataset=FILE")
        for name, least in _LEAST.items():
            if self.value(name) is not None and self.whole(name) < least:
                raise UsageError(f"{name} = {self.whole(name)}", hint=f"a whole number of at least {least}")
        for name in ("online_share", "expectile", "dropout"):
            share = self.optional(name)
            if share is not None and not 0 <= share <= 1:
                raise UsageError(f"{name} = {share:g}", hint="a number from 0 to 1")
        if (self.optional("conservative_weight") or 0.0) < 0:
            raise UsageError(f"conservative_weight = {self.value('conservative_weight')}", hint="at least 0")
        if recipe.n_envs != 1:
            raise UsageError(f"n_envs = {recipe.n_envs}", hint="1: an offline run has no training environments")
        if self.value("online_steps") and self.whole("online_steps") >= recipe.total_steps:
            raise UsageError(
                f"online_steps = {self.whole('online_steps')} of {recipe.total_steps} updates",
                hint="fewer: the updates before them are the offline part",
            )

    def settings(self) -> dict[str, object]:
        """What the worker is told."""
        return dict(self._values)
