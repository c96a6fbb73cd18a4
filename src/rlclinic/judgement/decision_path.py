"""The order in which an experienced debugger looks: numbers, critic, exploration, gradients, advantages, clipping, and
only then reward, environment and task. Reward is a lagging indicator: what broke first stands upstream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from rlclinic.model.finding import Finding, Severity
from rlclinic.model.words import listed
from rlclinic.rules.registry import RULES
from rlclinic.rules.rule import DecisionStep

TIERS = (DecisionStep.NUMBERS, DecisionStep.REWARD, DecisionStep.ENVIRONMENT, DecisionStep.TASK)
"""What is asked of an environment without a training."""


@cache
def rules_of(step: DecisionStep) -> frozenset[str]:
    """The names of the rules that answer a question."""
    return frozenset(rule.name for rule in RULES if rule.rule.step is step)


def decision_path(
    findings: Sequence[Finding],
    checked: frozenset[str],
    after_the_fall: frozenset[str] = frozenset(),
    *,
    leading: frozenset[str] = frozenset(),
    asked: Sequence[DecisionStep] | None = None,
) -> tuple[str, ...]:
    """The answer at each step; the first that failed before the return fell is where to begin.

    `leading` are the findings that speak for the leading cause, which go first. `asked` are the steps that make sense
    for what is judged; all where it is None.
    """
    lines: list[str] = []
    failing = {
        step: seen
        for step in DecisionStep
        if (seen := [f for f in findings if f.name in rules_of(step) and f.severity is not Severity.INFO])
    }
    begin = _begin(failing, after_the_fall, leading)
    for step in DecisionStep if asked is None else asked:
        looked = rules_of(step) & checked
        if step in failing:
            first = min(failing[step], key=lambda f: f.code in after_the_fall)
            late = " It began after the return had fallen." if first.code in after_the_fall else ""
            where = " Begin here." if step is begin else late
            lines.append(f"{step} No: {first.summary} ({first.code}).{where}")
        elif looked:
            checks = "One check" if len(looked) == 1 else f"{len(looked)} checks"
            noted = [f.code for f in findings if f.name in looked and f.severity is Severity.INFO]
            result = f"nothing serious; see {listed(noted)}" if noted else "nothing wrong"
            lines.append(f"{step} {checks} found {result}.")
        else:
            lines.append(f"{step} Not checked: the metrics it needs are not logged.")
    return tuple(lines)


def _begin(
    failing: Mapping[DecisionStep, Sequence[Finding]], after_the_fall: frozenset[str], leading: frozenset[str]
) -> DecisionStep | None:
    """The first step with what is gravest of what began before the return fell; of everything where all came later."""
    seen = [(step, finding) for step, found in failing.items() for finding in found]
    seen = [pair for pair in seen if pair[1].code in leading] or seen
    early = [(step, finding) for step, finding in seen if finding.code not in after_the_fall] or seen
    # Steps come in their order, and of equals `max` takes the first.
    return max(early, key=lambda pair: pair[1].severity.rank)[0] if early else None
