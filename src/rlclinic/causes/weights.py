"""The table of causes: priors, pieces of evidence and their weights, loaded and validated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, get_args

from rlclinic.causes.catalogue import catalogue
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.explanation import Kind, Piece
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.table_file import load_table
from rlclinic.reference.usual import Direction, bounded
from rlclinic.rules.registry import RULES

VERDICT, NOT, LITTLE_DATA = "verdict:", "not ", "little-data"
# What conditions are made of: facts of the run, and of the cause in question.
FACTS: Mapping[str, str] = {
    "done": "reached its goal, or the highest return there is, and stayed there",
    "behind": "far behind others of its task, or at a standstill far below its goal",
    "missed": "the whole budget is used and a known goal was clearly missed",
    "trained-to-goal": "so it was by evaluations alone: the training return came to the goal",
    "slow": "so it was, and at the present pace the goal is several budgets away",
    "budget-used": "the budget is used up and nothing says that it is done",
    "barely-moved": "so it is, and the return hardly moved",
    "nothing-logged": "no metric has a finite value",
    "far-short": "the budget is used and less than a quarter of the way to a known goal was made",
    "replaces-policy": "most updates replaced the policy almost entirely, and the run has not reached its goal",
    "never-climbed": "the return was never clearly above its start",
    "hardly-climbed": "so it was, or no goal is known and its climb is a small part of its level",
    "evaluations-alone-rose": "so it was in training, and evaluations surely rose and held it",
    "few-episodes": "fewer episodes were played, or rounds trained, than hardly any task is learned in",
    "few-steps": "fewer env steps than hardly any task is learned in, of a task that nobody published",
    "still-exploring": "most actions were random up to the end, of a rate on its way down",
    "huge-returns": "returns of a size that no learning rate brings a critic to",
    "constant-at-its-worst": "every return is the same: nothing, or what each step of the longest episodes costs",
    "constant-otherwise": "so it is another number, and not a whole one",
    "learned-blind": "the return rose and missed its goal, and the critic explained nothing all along",
    "stock-trainer": "a framework whose own algorithms many others train with",
    "home-made": "a log that no known library writes",
    "other-actions": "the algorithm acts in another kind of space than the well-known task has",
    "replays": "an algorithm that learns from replayed steps",
    "few-pay-all": "a few points of the return are dozens of times the others, each alone",
    "config-known": "there are settings",
    "warned": "a finding that is more than a note, and not about the return alone",
    "sure-sign": "a finding that is an error, and not about the outcome alone",
    "telling-sign": "a finding that is more than a note tells one cause from others",
    "evaluation-fell-behind": "a finding says that evaluations are worse than training",
    "usual-language-rate": "a language model, with a learning rate that such models are usually trained with",
    "gamed-unseen": "the training score rises with what games a reward, and nothing is held out to tell which it is",
    "memorised": "the training prompts were seen again and again, and nothing shows that the reward is gamed",
    "examined-alone": "an environment was examined without a training, and nothing was found",
    "good-policy-unseen": "so it was, and no trained policy was played in it",
    "meant-policy-unseen": "so it was, and no policy that does the task as meant was played in it",
    "algorithm-unknown": "not one of the families of algorithms",
    "task-unknown": "not one of the well-known tasks",
    "pays-more": "a step pays far more than on the task of that name, and the run does not learn",
    "pays-less": "so it does, far less",
    "pays-negated": "a step pays what it should cost, or costs what it should pay",
    "pays-the-same": "every step pays the same, which the standard task does not",
    "pays-beyond": "the return came to more than any policy earns on the task",
    "costs-beyond-actions": "all episodes of full length cost more than any actions within their bounds do",
    "cut-short": "all episodes end at one length far below the task's, and the run does not rise",
    "cut-before-goal": "so they do on a task whose episodes end at its goal alone, although the run rises",
    "drawn-out": "so they do, far above what an untrained policy lasts",
    "noted": "a finding speaks for the cause",
    "warned-of": "so does a finding that is more than a note",
    "setting-outside": "a setting of the cause lies outside everything that people train with",
    "metrics-speak-for-it": "its pieces that are not about settings sum to more than 0",
}
AMOUNTS = frozenset({"trouble", "unexplained", "unchecked"})


@dataclass(frozen=True, slots=True)
class SuspectSetting:
    """The hyperparameter behind a cause and the direction in which it is wrong."""

    key: str
    direction: Direction


@dataclass(frozen=True)
class CauseWeights:
    """One cause's row."""

    prior: float
    weights: Mapping[str, float] = field(default_factory=dict)
    expects: Mapping[str, float] = field(default_factory=dict)
    settings: tuple[SuspectSetting, ...] = ()
    """More than one where algorithms set the same thing by different hyperparameters."""
    when: Mapping[str, float] = field(default_factory=dict)
    per: Mapping[str, float] = field(default_factory=dict)
    intercept: float = 0.0
    no_sign: float | None = None

    @cached_property
    def log_prior(self) -> float:
        """The logarithm of the prior, with the intercept."""
        return math.log(self.prior) + self.intercept

    @cached_property
    def signs(self) -> Mapping[str, float]:
        """The findings and verdicts that speak for it."""
        return {name: weight for name, weight in self.weights.items() if weight > 0}

    @cached_property
    def absences(self) -> Mapping[str, Piece]:
        """What it says where an expected finding is missing."""
        return {name: Piece("absence", f"no {name}", -weight) for name, weight in self.expects.items()}

    @cached_property
    def names(self) -> frozenset[str]:
        """The findings, verdicts, facts and conditions that speak for or against it."""
        return frozenset((*self.weights, *self.when))

    @property
    def has_evidence(self) -> bool:
        """Whether anything could speak for it."""
        return any((self.weights, self.settings, self.when, self.per))


@dataclass(frozen=True, slots=True)
class Share:
    """What counts of a setting under a condition, from a distance on."""

    when: str
    share: float
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class Departs:
    """What a setting says by its distance from working configs, in spreads."""

    ordinary: float
    as_logged: float
    per_spread: float
    logged_share: float
    most: float
    counts: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """What a setting says that lies outside everything people train with, by decades."""

    at_once: float
    per_decade: float
    most_decades: float
    counts: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """How findings are pooled, and what their absence says."""

    repeated: float
    consequence: float
    no_sign: float
    telling: float
    tells: float
    unchecked_from: float
    outcome: frozenset[str]


@dataclass(frozen=True, slots=True)
class Doubt:
    """A share of some causes that goes to `unknown` under a condition."""

    when: str
    share: float
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Temperature:
    """Exponents of the probabilities."""

    with_config: float
    without_config: float
    little_data: float = math.inf

    def __post_init__(self) -> None:
        if min(self.with_config, self.without_config, self.little_data) <= 0.0:
            raise ValueError("weights.toml: a temperature must be above 0")

    def of(self, facts: AbstractSet[str], *, has_config: bool) -> float:
        """The exponent for a run of which these facts and conditions hold."""
        usual = self.with_config if has_config else self.without_config
        return min(usual, self.little_data) if LITTLE_DATA in facts else usual


@dataclass(frozen=True, slots=True)
class Condition:
    """All, or any, of some facts, verdicts and other conditions; each may be negated."""

    holding: frozenset[str]
    lacking: frozenset[str]
    """The negated ones."""
    needs_all: bool

    def holds(self, facts: AbstractSet[str]) -> bool:
        """Whether it holds beside these."""
        if self.needs_all:
            return self.holding <= facts and self.lacking.isdisjoint(facts)
        return not self.holding.isdisjoint(facts) or not self.lacking <= facts


@dataclass(frozen=True, eq=False)
class Weights:
    """The whole table."""

    temperature: Temperature
    scale: Mapping[str, float]
    findings: Findings
    trouble: Mapping[Severity, float]
    departs: Departs
    outside: Outside
    doubt: Doubt
    least_told: float
    few_episodes: int
    few_replayed: int
    fewest_env_steps: int
    few_steps: int
    few_updates: int
    mostly_random: float
    partway: float
    huge_return: float
    stock: frozenset[str]
    """Frameworks whose own algorithms many others train with."""
    conditions: Mapping[str, Condition]
    words: Mapping[str, str]
    causes: Mapping[str, CauseWeights]

    @cached_property
    def most_told(self) -> Mapping[str, float]:
        """How much each finding speaks for the cause that it speaks for most."""
        found: dict[str, float] = {}
        for row in self.causes.values():
            for name, weight in row.signs.items():
                found[name] = max(weight, found.get(name, 0.0))
        return found

    @cached_property
    def suspects(self) -> frozenset[str]:
        """The settings behind causes."""
        return frozenset(item.key for row in self.causes.values() for item in row.settings)

    # The causes of one run ask for the same few sets of facts.
    @lru_cache(maxsize=256)  # noqa: B019 - there are few tables, and they stay
    def with_conditions(self, facts: frozenset[str]) -> frozenset[str]:
        """Facts and the verdict, with the conditions that hold beside them."""
        found = set(facts) - self.conditions.keys()
        # A condition names only those above it.
        for name, condition in self.conditions.items():
            if condition.holds(found):
                found.add(name)
        return frozenset(found)


@cache
def weights() -> Weights:
    """The table as it is shipped, and what rules say that it does not have yet."""
    raw = load_table(Path(__file__).with_name("weights.toml"))
    for rule in RULES:
        for cause, weight in rule.rule.causes.items():
            if cause not in raw["cause"]:
                raise ValueError(f"{rule.name}: {cause} is not in weights.toml")
            raw["cause"][cause].setdefault("for", {}).setdefault(rule.name, weight)
    return load(raw)


def load(raw: Mapping[str, Any]) -> Weights:
    """A table from its text; ValueError where it names what does not exist."""
    conditions: dict[str, Condition] = {}
    for name, entry in raw["conditions"].items():
        terms = entry.get("all") or entry["any"]
        _known(name, (term.removeprefix(NOT) for term in terms), conditions)
        lacking = frozenset(term.removeprefix(NOT) for term in terms if term.startswith(NOT))
        conditions[name] = Condition(frozenset(terms) - {NOT + term for term in lacking}, lacking, "all" in entry)
    if set(raw["scale"]) != set(get_args(Kind)):
        raise ValueError(f"weights.toml: scale must have {', '.join(get_args(Kind))}")
    table = Weights(
        temperature=Temperature(**raw["temperature"]),
        scale=raw["scale"],
        findings=Findings(**{**raw["findings"], "outcome": frozenset(raw["findings"]["outcome"])}),
        trouble={Severity(name): value for name, value in raw["trouble"].items()},
        departs=Departs(**{**raw["departs"], "counts": _shares(raw["departs"])}),
        outside=Outside(**{**raw["outside"], "counts": _shares(raw["outside"])}),
        doubt=Doubt(raw["doubt"]["when"], raw["doubt"]["share"], tuple(raw["doubt"]["from"])),
        least_told=raw["told"]["least"],
        **{**raw["run"], "stock": frozenset(raw["run"]["stock"])},
        conditions=conditions,
        words=raw["words"],
        causes={cause: _row(cause, row) for cause, row in raw["cause"].items()},
    )
    _known("doubt, temperature", [table.doubt.when, LITTLE_DATA], conditions)
    for share in (*table.departs.counts, *table.outside.counts):
        _known("counts", [share.when], conditions)
    for cause, row in table.causes.items():
        _known(cause, row.when, conditions)
        if not set(row.when) <= set(table.words) or not set(row.per) <= AMOUNTS:
            raise ValueError(f"weights.toml: {cause} has a piece without words, or an unknown amount")
    return table


def _known(place: str, names: Iterable[str], conditions: Mapping[str, Condition]) -> None:
    for name in names:
        if name.startswith(VERDICT):
            Verdict(name.removeprefix(VERDICT))
        elif name not in FACTS and name not in conditions:
            raise ValueError(f"weights.toml: {place} names {name}, which is neither a fact nor a condition above it")


def _shares(raw: Mapping[str, Any]) -> tuple[Share, ...]:
    return tuple(Share(entry["when"], entry["share"], entry.get("from", 0.0)) for entry in raw["counts"])


def _row(cause: str, raw: Mapping[str, Any]) -> CauseWeights:
    if cause not in catalogue():
        raise ValueError(f"weights.toml: {cause} is not in the catalogue")
    named, expects = dict(raw.get("for", {})), dict(raw.get("expects", {}))
    for name in (*named, *expects):
        if name.startswith(VERDICT):
            Verdict(name.removeprefix(VERDICT))
    settings = tuple(SuspectSetting(**entry) for entry in raw.get("settings", ()))
    unknown = [item.key for item in settings if item.key not in hyperparameters() and item.key not in bounded()]
    if unknown:
        raise ValueError(f"weights.toml: {cause} has the unknown hyperparameters {', '.join(unknown)}")
    rest = {key: raw[key] for key in ("when", "per", "intercept", "no_sign") if key in raw}
    return CauseWeights(float(raw["prior"]), named, expects, settings, **rest)
