"""The settings of an imitation run: what is learned, from whom, and who is at the controls."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rlclinic.lab.recipe import Recipe
from rlclinic.lab.torchrl.options import Options
from rlclinic.model.errors import UsageError
from rlclinic.reference.algorithms import TRAINED

# Share of expert control by round: `indicator` is 1 in the first round and 0 after it (Ross 2011, arXiv 1011.0686).
SCHEDULES = ("indicator", "linear", "exponential", "constant")
_BASE: Mapping[str, object] = {
    "expert": None,
    "expert_return": None,
    "best_share": 1.0,
    "expert_noise": 0.0,
    "expert_inconsistency": 0.0,
    "expert_outage": None,
    "query_budget": None,
    "n_envs": 1,
    "n_steps": 500,
    "n_epochs": None,
    "batch_size": 64,
    "learning_rate": 1e-3,
    "net_arch": [64, 64],
    "activation": "tanh",
    "weight_decay": 0.0,
    "beta_schedule": "indicator",
    "beta_decay": 0.5,
    "aggregate": True,
    "retrain_every": 1,
    "warm_start": False,
    "patience": 0,
    "n_policies": 1,
    "gate_threshold": 0.1,
    "max_episode_steps": None,
    "frame_skip": None,
    "frame_stack": None,
}
# Where the default of a variant differs: cloning only ever sees what the expert did.
_OWN: Mapping[str, Mapping[str, object]] = {
    "BC": {"beta_schedule": "constant", "beta_decay": 1.0},
    "FILTERED-BC": {"beta_schedule": "constant", "beta_decay": 1.0, "best_share": 0.1},
    "ENSEMBLE-DAGGER": {"n_policies": 5},
}
ALGORITHMS = TRAINED["rlclinic"]
DEFAULTS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {name: MappingProxyType({**_BASE, **_OWN.get(name, {})}) for name in ALGORITHMS}
)
_SHARES = ("best_share", "expert_noise", "expert_inconsistency", "expert_outage", "beta_decay", "gate_threshold")
_LEAST = {"n_steps": 1, "n_epochs": 1, "batch_size": 1, "retrain_every": 1, "patience": 0, "n_policies": 1}


class ImitationOptions(Options):
    """The hyperparameters of a recipe with the defaults of its algorithm beneath; UsageError where one does not fit."""

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe, DEFAULTS[recipe.algorithm])
        if not isinstance(self.value("expert"), str) or not self.value("expert"):
            raise UsageError("no expert is named", hint="--expert RUN, module:function or a file of demonstrations")
        for name in _SHARES:
            share = self.optional(name)
            if share is not None and not 0 <= share <= 1:
                raise UsageError(f"{name} = {share:g}", hint="a number from 0 to 1")
        for name, least in _LEAST.items():
            if self.value(name) is not None and self.whole(name) < least:
                raise UsageError(f"{name} = {self.whole(name)}", hint=f"a whole number of at least {least}")
        if self.word("beta_schedule") not in SCHEDULES:
            raise UsageError(f"beta_schedule = {self.value('beta_schedule')!r}", hint=f"one of {', '.join(SCHEDULES)}")
        if recipe.n_envs != 1:
            raise UsageError(f"n_envs = {recipe.n_envs}", hint="1: the expert follows one episode at a time")
        if recipe.algorithm == "ENSEMBLE-DAGGER" and self.whole("n_policies") < 2:
            raise UsageError("n_policies = 1", hint="at least 2, usually 5: it asks where its policies disagree")

    def beta(self, round_: int, rounds: int) -> float:
        """The share of expert control in a round. The first round is always the expert's: nobody else can act yet."""
        schedule, decay = self.word("beta_schedule"), self.number("beta_decay")
        if round_ == 0:
            return 1.0
        if schedule == "linear":
            return max(1.0 - round_ / max(decay * rounds, 1.0), 0.0)
        if schedule == "exponential":
            return float(decay**round_)
        return decay if schedule == "constant" else 0.0
