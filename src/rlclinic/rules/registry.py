"""The rules: every file below `rules/<family>/`, and how they are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

from rlclinic.facts.offline import is_offline
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.errors import RlclinicError, UsageError, contained
from rlclinic.model.finding import Finding, NotChecked, Severity
from rlclinic.model.numbers import plain_numbers
from rlclinic.reference.table_file import made_once
from rlclinic.rules.measured import beyond_chance
from rlclinic.rules.rule import Kind, RuleInfo, RuleResult, Sign, is_met, rule_row, told_rule

# In the order in which findings of equal weight are told.
FAMILIES = (
    "success", "convergence", "policy", "value", "off_policy", "optimisation", "mmrkhs", "reinforce", "data",
    "environment", "evaluation", "process", "config", "implementation", "imitation",
    "offline",    "language_model",
)  # fmt: skip

SPECIAL_FAMILIES = frozenset({"imitation", "offline", "language-model"})
"""Families of rules, and classes of causes, that are about one way of learning each."""

Limits = Mapping[str, Mapping[str, float]]
"""Values that a user gives to limits of rules, by code."""


def discover() -> tuple[RuleInfo, ...]:
    """The rules of all families, by code within each; what their files say is kept until one of them changes."""
    here = Path(__file__).parent
    paths = [path for family in FAMILIES for path in (here / family).glob("*.py") if path.stem != "__init__"]
    files = sorted((path.parent.name, path.stem) for path in paths)
    stamps = [(str(path), path.stat()) for path in sorted((*paths, here / "rule.py"))]
    text = "\n".join(f"{path} {stamp.st_mtime_ns} {stamp.st_size}" for path, stamp in stamps).encode()
    rows = made_once(here / "rules", text, lambda _: [rule_row(family, file) for family, file in files])
    rules = [told_rule(family, file, row) for (family, file), row in zip(files, rows, strict=True)]
    found = sorted(rules, key=lambda rule: (FAMILIES.index(rule.family), rule.code))
    codes = [rule.code for rule in found]
    twice = sorted(code for code, count in Counter(codes).items() if count > 1)
    if twice:
        raise ValueError(f"several rules have the code {', '.join(twice)}")
    return tuple(found)


RULES = discover()


@cache
def rules_meaning(sign: Sign) -> frozenset[str]:
    """The names of the rules whose findings mean something."""
    return frozenset(rule.name for rule in RULES if sign in rule.rule.means)


@cache
def measured_rules() -> frozenset[str]:
    """The names of the rules that judge what is measured at the environment itself."""
    return frozenset(rule.name for rule in RULES if rule.is_measured)


@cache
def special_rules() -> frozenset[str]:
    """The names of the rules about other ways of learning than by acting."""
    return frozenset(rule.name for rule in RULES if rule.family.replace("_", "-") in SPECIAL_FAMILIES)


def check_names(names: Iterable[str]) -> None:
    """Refuse names that are neither a rule's code or name nor a family."""
    known = {word for rule in RULES for word in (rule.code.lower(), rule.name, rule.family)}
    for name in names:
        if name.lower() not in known:
            raise UsageError(f"no rule or family is called {name!r}", hint="`rlclinic explain` lists them")


def checked_limits(given: Mapping[str, Mapping[str, float]]) -> Limits:
    """Limits by the code of their rule; a rule or limit that does not exist is an error."""
    found: dict[str, Mapping[str, float]] = {}
    for name, values in given.items():
        rule = next((rule for rule in RULES if name.lower() in (rule.code.lower(), rule.name)), None)
        if rule is None:
            raise UsageError(f"thresholds: no rule is called {name!r}", hint="`rlclinic explain` lists the rules")
        known = rule.limits
        unknown = [key for key in values if key.lower() not in known]
        if unknown:
            raise UsageError(f"{name} has no threshold {unknown[0]!r}", hint=f"it has {', '.join(known) or 'none'}")
        found[rule.code] = {key.lower(): type(known[key.lower()])(value) for key, value in values.items()}
    return found


def examine(
    facts: RunFacts, rules: tuple[RuleInfo, ...] = RULES, limits: Limits | None = None
) -> tuple[tuple[Finding, ...], tuple[NotChecked, ...]]:
    """Run every rule that applies; what lacks its inputs, or fails, is said and never passed over."""
    results: dict[str, RuleResult] = {}
    skipped: list[NotChecked] = []
    checks = 0
    asked = applicable(facts, rules)
    missing = {need for need in _needs(asked) if not is_met(need, facts)}
    for rule in asked:
        if not missing.isdisjoint(rule.rule.needs):
            lacking = tuple(need for need in rule.rule.needs if need in missing)
            skipped.append(NotChecked(rule.code, rule.title, lacking))
            continue
        try:
            result = _result(rule, facts, (limits or {}).get(rule.code))
        except Exception as error:
            skipped.append(NotChecked(rule.code, rule.title, (), _message(error, facts.run.path)))
            continue
        checks += rule.is_measured
        if result is not None:
            results[rule.code] = result
    results = beyond_chance(results, checks)
    findings = (
        _finding(rule, results[rule.code], covered=not results.keys().isdisjoint(rule.rule.covered_by))
        for rule in rules
        if rule.code in results
    )
    return in_order(findings), tuple(skipped)


def applicable(facts: RunFacts, rules: tuple[RuleInfo, ...] = RULES) -> tuple[RuleInfo, ...]:
    """The rules that are about runs of this kind."""
    kind = Kind(
        facts.families,
        facts.is_language_model,
        is_offline(facts) or any(name.startswith("offline/") for name in facts.run.series),
        facts.environment is not None,
        facts.run.is_environment,
    )
    return _applicable(kind, rules)


@lru_cache(maxsize=256)
def _applicable(kind: Kind, rules: tuple[RuleInfo, ...]) -> tuple[RuleInfo, ...]:
    return tuple(rule for rule in rules if rule.applies(kind))


@lru_cache(maxsize=256)
def _needs(rules: tuple[RuleInfo, ...]) -> frozenset[str]:
    """What some rules need: several need the same."""
    return frozenset(need for rule in rules for need in rule.rule.needs)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The gravest and surest first."""
    return tuple(sorted(findings, key=lambda item: (-item.severity.rank, -item.confidence)))


def _result(rule: RuleInfo, facts: RunFacts, limits: Mapping[str, float] | None) -> RuleResult | None:
    own = (type(rule.module.LIMITS)(**limits),) if limits else ()
    result: RuleResult | None = rule.module.check(facts, *own)
    return result


def _message(error: Exception, path: str) -> str:
    """What a report says of a rule that failed."""
    try:
        with contained(path):
            raise error
    except RlclinicError as told:
        return told.message


def _finding(rule: RuleInfo, result: RuleResult, *, covered: bool) -> Finding:
    return Finding(
        rule.code,
        rule.title,
        rule.family,
        Severity.INFO if covered else result.severity,
        result.confidence,
        plain_numbers(result.summary),
        result.evidence,
        result.onset_step,
        rule.name,
    )
