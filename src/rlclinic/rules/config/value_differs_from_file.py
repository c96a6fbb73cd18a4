"""The same hyperparameter is set to different values in different files of the run.

What it sees: Two files of the run set one hyperparameter, under keys that mean the same, to different values.
Why it hurts: One of them was not used. Whoever reads the other file, or starts the next run from it, is misled.
Evidence needed: at least two config files.
Looks alike: Separate settings for training and evaluation, or for actor and critic; only keys with one meaning are
held against each other.
What to change: Look at the value that the run logged, and correct or remove the other.
References: rl-baselines3-zoo writes args.yml (what was typed) and config.yml (what was trained with).
"""

from __future__ import annotations

import math
from collections import defaultdict

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.config import Setting
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.numbers import number
from rlclinic.reference.framework import Framework, framework
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("CFG07")


class Limits(RuleLimits):
    shown: int = 3


LIMITS = Limits()
# Values that mean "not set here".
NOT_SET = (-1.0,)
# Identity, not learning: seeds and budgets differ by right between what was typed and what was run.
LEFT_OUT = frozenset({"seed", "total_steps", "total_updates", "total_epochs", "n_actions"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Group the user's keys by meaning and compare across files."""
    table = framework(facts.run.framework)
    groups: dict[str, list[Setting]] = defaultdict(list)
    config = facts.run.config
    for setting in (*config.native.values(), *config.shadowed):
        name = _meaning(setting.native_key, table, facts.run.algorithm)
        if name and name not in LEFT_OUT and _number(setting) is not None and setting.origin is not None:
            groups[name].append(setting)
    found = [(name, pair) for name, settings in groups.items() if (pair := _differing(settings)) is not None]
    if not found:
        return None
    listed = "; ".join(f"{name}: {_told(first)}, {_told(second)}" for name, (first, second) in found[: limits.shown])
    summary = f"files of the run disagree on {len(found)} hyperparameters: {listed}"
    evidence = tuple(
        Evidence(name, first.native_key, _number(first) or 0.0, _number(second), note=f"against {second.native_key}")
        for name, (first, second) in found[: limits.shown]
    )
    return RuleResult(Severity.INFO, 0.8, summary, evidence)


def _meaning(key: str, table: Framework, algorithm: str) -> str:
    found = table.hyperparameters.find(key)
    if found is None:
        return ""
    return next((entry.name for entry in found[1] if not entry.algorithms or algorithm in entry.algorithms), "")


def _differing(settings: list[Setting]) -> tuple[Setting, Setting] | None:
    for index, first in enumerate(settings):
        for second in settings[index + 1 :]:
            one, two = _number(first), _number(second)
            if first.origin is None or second.origin is None or first.origin.file == second.origin.file:
                continue
            if one is not None and two is not None and not math.isclose(one, two, rel_tol=1e-6):
                return first, second
    return None


def _number(setting: Setting) -> float | None:
    value = number(setting.value)
    return None if value in NOT_SET else value


def _told(setting: Setting) -> str:
    return f"{setting.native_key} = {setting.value} in {setting.origin}"
