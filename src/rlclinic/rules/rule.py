"""What a rule says of itself: code, needs, step in the decision path, what a finding means, limits, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, dataclass_transform

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.lazy_dataclass import dataclass

CONFIG = "config:"
"""Begins a need that a config must meet."""
ENVIRONMENT = "environment:"
"""Begins a need that facts about the environment must meet: one of their sections."""


class DecisionStep(StrEnum):
    """The questions of an experienced debugger, in his order. Reward is a lagging indicator: it comes late."""

    NUMBERS = "Are all numbers finite?"
    CRITIC = "Does the value function explain the returns?"
    EXPLORATION = "Does the policy still explore?"
    GRADIENTS = "Are the gradients sane?"
    ADVANTAGES = "Are the advantages of a sane size?"
    UPDATE_SIZE = "Does the policy move at a sane pace?"
    REWARD = "Does the reward carry a signal?"
    ENVIRONMENT = "Does the environment behave?"
    TASK = "Is the task within reach?"


class Sign(StrEnum):
    """What a finding means for the verdict and for advice, beside what it says itself."""

    PROCESS_DIED = "the process died"
    OUT_OF_MEMORY = "memory ran out"
    MISCONFIGURED = "it could not have learned as configured"
    REWARD_HACKING = "the reward rose and the task did not"
    ENDING_PAYS = "the return rose because episodes end sooner"
    COLLAPSED = "what was learned is lost"
    UNSTABLE = "the return swings, or fell back from its best"
    NOT_LEARNING = "the return is no better than at the start"
    CONSTANT = "the return never changes"
    RETURN_STOPPED = "training went on and no episode ended any more"
    PLATEAU = "the return stands still below the goal"
    STILL_RISING = "the return was rising at the end"
    RETURN_FELL = "the return fell, so that the order of onset matters"
    POLICY_FROZEN = "the policy cannot have moved"
    POLICY_TOO_FAST = "larger or more updates would do harm"
    POLICY_DEAD = "the policy is beyond what a smaller step can fix"
    CRITIC_DIVERGES = "more updates per sample would do harm"
    EVALUATION_DIFFERS = "the evaluated policy does not do what the trained one does"
    EVALUATION_FELL_BEHIND = "evaluations do badly, whatever the training return does"
    RETURNS_TOO_LARGE = "the returns are too large for the loss"
    BUG = "a bug in the trainer shows"


@dataclass(frozen=True, slots=True)
class Rule:
    """The metadata of a rule, as `RULE` in its file; name and family are those of the file and its folder."""

    code: str
    needs: tuple[str, ...] = ()
    """Metrics that must be there, or `config:<hyperparameter>`; `a|b` means either, `a/*` any member of a family."""
    algorithms: tuple[str, ...] = ()
    """Families of algorithms it is about; empty for all."""
    covered_by: tuple[str, ...] = ()
    """Codes of findings that say the same better, or explain it away: beside one of them this one is a note."""
    step: DecisionStep | None = None
    """The question of the decision path that it helps to answer."""
    means: tuple[Sign, ...] = ()
    causes: Mapping[str, float] = field(default_factory=dict)
    """How much a finding speaks for each cause, in natural-log units, until the table of causes says it itself."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class RuleLimits:
    """The numbers that a rule judges by: attributes of its class, or what a user gives in their place.

    Not a dataclass: the methods generated for every rule would be a fifth of the time from the shell to an answer.
    """

    def __init__(self, **given: float) -> None:
        unknown = given.keys() - self.names()
        if unknown:
            raise TypeError(f"no limit is called {', '.join(sorted(unknown))}")
        vars(self).update(given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} is frozen")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The limits, in the order of the file."""
        return tuple(cls.__annotations__)


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule's answer: how bad, how sure, one line with numbers, and the arithmetic behind it."""

    severity: Severity
    confidence: float
    summary: str
    evidence: tuple[Evidence, ...]
    onset_step: float | None = None
    chance: float | None = None
    """Probability of such a measurement where nothing is wrong; None where chance cannot make it."""


# What only agents in an environment have: nobody can log it of a language model.
OF_CONTROL = frozenset({
    "action_std/max", "action_std/mean", "action_std/min", "config:frame_stack", "config:n_actions", "config:n_steps",
    "config:observation_shape", "config:policy_class", "dead_units", "episode_length", "episode_length/eval",
    "learned_return", "observation/std", "success_rate", "success_rate/eval",
})  # fmt: skip


class Kind(NamedTuple):
    """What decides which rules are about a run."""

    families: frozenset[str]
    """Of its algorithm; none where that is not known."""
    is_language_model: bool
    is_offline: bool
    """Whether it learns, or began to, from recorded steps."""
    has_environment: bool
    """Whether anything was measured at the environment itself."""
    is_environment: bool
    """Whether that is all there is."""


@dataclass(frozen=True, eq=False)
class RuleInfo:
    """A rule with its place: what the registry knows of it."""

    name: str
    """Kebab-case; never the id of a cause."""
    family: str
    rule: Rule
    """What the file says."""
    title: str
    """The first line of the rule's documentation."""

    @cached_property
    def module(self) -> ModuleType:
        """The file itself: imported when it is first asked, as most runs need a third of all rules."""
        return import_module(f"rlclinic.rules.{self.family}.{self.name.replace('-', '_')}")

    @cached_property
    def code(self) -> str:
        return self.rule.code

    @property
    def limits(self) -> dict[str, float]:
        """The numbers that it judges by, as it has them."""
        own: RuleLimits | None = getattr(self.module, "LIMITS", None)
        return {name: getattr(own, name) for name in own.names()} if own is not None else {}

    @cached_property
    def is_measured(self) -> bool:
        """Whether it judges what is measured at the environment itself."""
        return any(need.startswith(ENVIRONMENT) for need in self.rule.needs)

    def applies(self, kind: Kind) -> bool:
        """Whether the rule is about runs of this kind; an unknown algorithm might be any."""
        if self.family == "language_model" and not kind.is_language_model:
            return False
        if self.family == "offline" and not kind.is_offline:
            return False
        if kind.is_language_model and any(OF_CONTROL.issuperset(need.split("|")) for need in self.rule.needs):
            return False
        if self.is_measured and not kind.has_environment:
            return False
        if kind.is_environment and not self.is_measured:
            return False
        algorithms = self.rule.algorithms
        return not algorithms or not kind.families or not kind.families.isdisjoint(algorithms)


def load_rule(family: str, file: str) -> RuleInfo:
    """The rule of a file below `rules/<family>/`."""
    return told_rule(family, file, rule_row(family, file))


def rule_row(family: str, file: str) -> list[Any]:
    """What a file says of its rule, in plain values."""
    module = import_module(f"rlclinic.rules.{family}.{file}")
    rule: Rule = module.RULE
    step, means = rule.step and rule.step.value, [sign.value for sign in rule.means]
    title = (module.__doc__ or "").split("\n", 1)[0].rstrip(".")
    return [title, rule.code, rule.needs, rule.algorithms, rule.covered_by, step, means, dict(rule.causes)]


def told_rule(family: str, file: str, row: list[Any]) -> RuleInfo:
    """The rule that such values describe."""
    title, code, needs, algorithms, covered_by, step, means, causes = row
    signs = tuple(Sign(sign) for sign in means)
    rule = Rule(code, needs, algorithms, covered_by, step and DecisionStep(step), signs, causes)
    return RuleInfo(file.replace("_", "-"), family, rule, title)


def is_met(need: str, facts: RunFacts) -> bool:
    """Whether a run has what a rule needs."""
    return any(_has(facts, name) for name in need.split("|"))


def _has(facts: RunFacts, name: str) -> bool:
    if name.startswith(CONFIG):
        return facts.run.config.get(name.removeprefix(CONFIG)) is not None
    if name.startswith(ENVIRONMENT):
        return getattr(facts.environment, name.removeprefix(ENVIRONMENT), None) is not None
    return facts.series(name) is not None or (name.endswith("/*") and _has_member(facts, name.removesuffix("*")))


def _has_member(facts: RunFacts, family: str) -> bool:
    return any(name.startswith(family) and facts.series(name) is not None for name in facts.run.series)
