"""A diagnosed run as remedies see it: values in force, what works elsewhere, what was found and what is suspected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rlclinic.causes.components import is_stock, trainer_of
from rlclinic.facts.goal import missing_share
from rlclinic.facts.goal_status import GoalStatus
from rlclinic.facts.return_state import is_flat
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.task_entry import entry_holds
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Finding
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.model.vocabulary import families_of
from rlclinic.reference.framework import framework
from rlclinic.reference.hyperparameters import amount
from rlclinic.reference.reference_configs import has_reference_config, reference_config
from rlclinic.reference.tasks import Task, task_of
from rlclinic.rules.registry import rules_meaning
from rlclinic.rules.rule import Sign
from rlclinic.signals._robust import median, quantile

# Where the config does not tell, the log often does.
LOGGED = {"learning_rate": "learning_rate", "clip_range": "clip_range", "ent_coef": "entropy_coef"}
# Verdicts of runs that have nothing of what they could have.
NOTHING_YET = frozenset({Verdict.CRASHED, Verdict.MISCONFIGURED, Verdict.COLLAPSED, Verdict.NOT_LEARNING})
# Rescaled returns are brought to this order; the literature's target is a few units.
WANTED_RETURN = 10.0


@dataclass(frozen=True)
class Assessment:
    """One run with its diagnosis so far."""

    facts: RunFacts
    verdict: Verdict
    findings: Mapping[str, Finding]
    """By rule name."""
    causes: Mapping[str, Cause]
    """By id, the most probable first."""
    status: GoalStatus = field(default_factory=GoalStatus)

    @property
    def run(self) -> Run:
        """The run itself."""
        return self.facts.run

    @cached_property
    def families(self) -> frozenset[str]:
        """Families of the algorithm; language models are known by what they log as well."""
        found = families_of(self.run.algorithm)
        return found | {"language-model"} if self.is_language_model else found

    @property
    def is_language_model(self) -> bool:
        """Whether tokens are trained rather than steps of an environment."""
        return self.run.is_language_model

    @property
    def is_on_policy(self) -> bool:
        """Whether rollouts are collected, used and thrown away."""
        return bool(families_of(self.run.algorithm) & {"ppo", "actor-critic"})

    @cached_property
    def reference(self) -> Mapping[str, object]:
        """Hyperparameters that work: for this environment, else the algorithm's defaults. None for language models."""
        if self.is_language_model:
            return {}
        return reference_config(self.run.environment, self.run.algorithm)

    @cached_property
    def has_entry(self) -> bool:
        """Whether the reference is for this very environment."""
        return not self.is_language_model and has_reference_config(self.run.environment, self.run.algorithm)

    @cached_property
    def task(self) -> Task | None:
        """The well-known task, if it is one."""
        return task_of(self.run.environment)

    def number(self, key: str) -> float | None:
        """The value in force: what the user set, else what the log shows, else the framework's default."""
        value, setting = amount(key, self.run.config.get(key)), self.run.config.settings.get(key)
        if setting is None or setting.is_default:
            # Schedules fall from the largest value, or warm up to it.
            logged = self.logged(LOGGED.get(key, ""))
            if logged.size:
                return float(logged.max())
        if value is None and key == "n_steps":
            # Some count a rollout over all environments.
            rollout = self.run.config.number("rollout_size")
            return rollout / (self.run.config.number("n_envs") or 1.0) if rollout and self.is_on_policy else None
        return value

    def logged(self, metric: str) -> NDArray[np.float64]:
        """The finite values of a metric; empty where it was not logged."""
        return _finite(self.run.series.get(metric))

    def is_derived(self, key: str) -> bool:
        """Whether a value follows from others, so that nobody writes it."""
        setting = self.run.config.settings.get(key)
        return setting is not None and setting.is_derived

    def reference_number(self, key: str) -> float | None:
        """The reference value, if it is a number: that of the entry for this environment, else the default."""
        known = self.entry_number(key)
        if known is not None or self.is_language_model:
            return known
        return amount(key, reference_config("", self.run.algorithm).get(key))

    def default_number(self, key: str) -> float | None:
        """The framework's own default, if it is a number: what is in force where nobody set anything."""
        return amount(key, framework(self.run.framework).defaults_for(self.run.algorithm, "").get(key))

    def entry_number(self, key: str) -> float | None:
        """The value that works for this environment, if it is a number and holds in the set-up of this run."""
        holds = self.has_entry and entry_holds(self.facts, key)
        return amount(key, self.reference.get(key)) if holds else None

    def probability(self, cause: str) -> float:
        """The probability of a cause; 0 where it was left out."""
        return self.causes[cause].probability if cause in self.causes else 0.0

    def saw(self, *rules: str) -> bool:
        """Whether any of these rules found something."""
        return any(rule in self.findings for rule in rules)

    def shows(self, sign: Sign) -> bool:
        """Whether any finding means this."""
        return not rules_meaning(sign).isdisjoint(self.findings)

    @cached_property
    def rollout(self) -> float | None:
        """Samples per rollout over all environments."""
        steps, envs = self.number("n_steps"), self.number("n_envs")
        if steps and envs:
            return number(steps * envs)
        return self.number("rollout_size") or (steps if steps and self.run.framework.startswith("sb3") else None)

    @cached_property
    def episode_length(self) -> float | None:
        """How long episodes are: the longest typical one that was logged, else the task's limit."""
        lengths = self.logged("episode_length")
        if lengths.size:
            return quantile(lengths, 0.9)
        return float(self.task.max_episode_steps) if self.task and self.task.max_episode_steps else None

    @cached_property
    def budget(self) -> float | None:
        """Steps the run was meant to take, else those it took."""
        return self.run.budget or (self.run.steps if self.run.steps > 0 else None)

    @cached_property
    def usual_kl(self) -> float | None:
        """The middle of the logged KLs; None where all are 0: that of one step per rollout is measured before it."""
        sizes = np.abs(self.logged("approx_kl"))
        usual = median(sizes) if sizes.size else 0.0
        return usual if usual > 0.0 else None

    @cached_property
    def largest_return(self) -> float:
        """The size of large returns; 0 where no return is known."""
        sizes = np.abs(_finite(self.run.returns))
        return quantile(sizes, 0.9) if sizes.size else 0.0

    @property
    def reward_divisor(self) -> float:
        """A power of ten that brings the returns of the run to the order of ten; at least 10."""
        ratio = max(self.largest_return / WANTED_RETURN, 1.0)
        return float(10 ** max(1, round(math.log10(ratio))))

    @property
    def is_stock(self) -> bool:
        """Whether the trainer is that of a released library: many train with it, so a bug in it is unlikely."""
        return is_stock(self.run.framework)

    @cached_property
    def at_stake(self) -> float | None:
        """Share of the return that is missing at the end: of the way to a known goal, else of the climb to the best
        level of the run, all of it where nothing was learned. None where that cannot be told."""
        curve, missing = self.facts.curve, missing_share(self.facts)
        if self.verdict in (Verdict.INSUFFICIENT_DATA, Verdict.INTERRUPTED):
            return None
        if self.status.done:
            return 0.0
        if self.verdict in NOTHING_YET or self.never_moved:
            return 1.0
        if missing is not None or curve is None or self.verdict is not Verdict.UNSTABLE:
            return missing
        return min(max(curve.drop / curve.climb, 0.0), 1.0) if curve.climb > 0.0 else 1.0

    @cached_property
    def never_moved(self) -> bool:
        """Whether the return is no better than at the start: more of the same would cost and give nothing."""
        flat = self.verdict is Verdict.PLATEAUED and is_flat(self.facts)
        return self.verdict is Verdict.NOT_LEARNING or flat or self.is_constant

    @property
    def is_constant(self) -> bool:
        """Whether every return is the same number, which nobody knows to be a success."""
        return self.verdict is not Verdict.SOLVED and self.saw("return-exactly-constant")

    @property
    def trainer(self) -> str:
        """How `rlclinic probe` names the trainer."""
        return trainer_of(self.run)


def _finite(series: Series | None) -> NDArray[np.float64]:
    return series.values[np.isfinite(series.values)] if series is not None else np.empty(0)
