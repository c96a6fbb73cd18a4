"""A diagnosed run as remedies see it: values in force, what works elsewhere, what was found and what is suspected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.standing import Standing
from rlclinic.model.diagnosis import Cause, Verdict
from rlclinic.model.finding import Finding
from rlclinic.model.numbers import number
from rlclinic.model.run import Run
from rlclinic.model.vocabulary import families_of
from rlclinic.reference.reference_configs import has_reference_config, reference_config
from rlclinic.reference.tasks import Task, task_of
from rlclinic.rules.registry import rules_meaning
from rlclinic.rules.rule import Sign

# Where the config does not tell, the log often does.
LOGGED = {"learning_rate": "learning_rate", "clip_range": "clip_range", "ent_coef": "entropy_coef"}
# Frameworks whose trainers `rlclinic probe` knows by name.
PROBED = {"sb3": "sb3", "sb3-zoo": "sb3", "rlclinic": "sb3", "torchrl": "torchrl"}


@dataclass(frozen=True)
class Case:
    """One run with its diagnosis so far."""

    facts: RunFacts
    verdict: Verdict
    findings: Mapping[str, Finding]
    """By rule name."""
    causes: Mapping[str, Cause]
    """By id, the most probable first."""
    standing: Standing = field(default_factory=Standing)

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
        return "language-model" in families_of(self.run.algorithm) or "response_length" in self.run

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
        value, setting = self.run.config.number(key), self.run.config.settings.get(key)
        logged = None if setting is not None and not setting.is_default else self._logged(key)
        if logged is not None:
            return logged
        if value is None and key == "n_steps":
            # Some count a rollout over all environments.
            rollout = self.run.config.number("rollout_size")
            return rollout / (self.run.config.number("n_envs") or 1.0) if rollout and self.is_on_policy else None
        return value

    def _logged(self, key: str) -> float | None:
        """The largest value of the log: schedules fall from it, or warm up to it."""
        series = self.run.series.get(LOGGED.get(key, ""))
        if series is None:
            return None
        finite = series.values[np.isfinite(series.values)]
        return float(finite.max()) if finite.size else None

    def reference_number(self, key: str) -> float | None:
        """The reference value, if it is a number."""
        return number(self.reference.get(key))

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
        series = self.run.series.get("episode_length")
        if series is not None:
            finite = series.values[np.isfinite(series.values)]
            if finite.size:
                return float(np.quantile(finite, 0.9))
        return float(self.task.max_episode_steps) if self.task and self.task.max_episode_steps else None

    @cached_property
    def budget(self) -> float | None:
        """Steps the run was meant to take, else those it took."""
        return self.run.budget or (self.run.steps if self.run.steps > 0 else None)

    @property
    def trainer(self) -> str:
        """How `rlclinic probe` names the trainer."""
        library = PROBED.get(self.run.framework)
        if library and self.run.algorithm:
            return f"{library}:{self.run.algorithm}"
        return "your.module:make_trainer"
