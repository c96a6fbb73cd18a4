"""A better run that this one is compared with differs from it in more than one setting.

What it sees: Of the runs named beside this one, every one that ended clearly above it differs in two settings or more.
Why it hurts: None of these settings alone explains the difference: what is blamed may be the one that helped.
Evidence needed: other runs of the same environment and algorithm, given to the diagnosis, with their configs.
Looks alike: Runs that differ in their seed or budget alone. Settings that only one of the two runs recorded.
What to change: Go back to the better run and change one setting at a time, each with several seeds.
References: Henderson et al. 2018 (arXiv 1709.06560); Patterson et al. 2023 (arXiv 2304.01315).
"""

from __future__ import annotations

from rlclinic.facts.returns import return_curve
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.run import Run
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("EVA10", needs=("return/train|return/eval",), causes={"comparison-confounded": 6.0})

# Settings that runs of one config differ in.
MAY_DIFFER = frozenset({"seed", "total_steps"})
MOST_NAMED = 4


class Limits(RuleLimits):
    settings: int = 2
    """Settings that differ from which on none of them alone explains a difference."""
    far_above: float = 4.0
    """Units of this run's noise by which the other must lie above it."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count what differs between this run and the better ones beside it."""
    run, curve, returns = facts.run, facts.curve, facts.run.returns
    if curve is None or returns is None:
        return None
    bar = curve.final + limits.far_above * curve.noise
    better = []
    for other in facts.compared_with:
        ended = return_curve(other.series.get(returns.name))
        if (other.environment, other.algorithm) == (run.environment, run.algorithm) and ended and ended.final > bar:
            better.append((_differing(run, other), ended.final))
    if not better:
        return None
    keys, final = min(better, key=lambda pair: len(pair[0]))
    if len(keys) < limits.settings:
        return None
    named = ", ".join(keys[:MOST_NAMED]) + (" and others" if len(keys) > MOST_NAMED else "")
    summary = (
        f"{returns.logged_as} ended at {curve.final:.4g}, that of a run beside it at {final:.4g}; they differ in "
        f"{len(keys)} settings ({named}), so none of them alone explains it"
    )
    evidence = (facts.evidence(returns.name, final, bar, note="end of the other run, against this one"),)
    return RuleResult(Severity.INFO, 0.85, summary, evidence)


def _differing(run: Run, other: Run) -> list[str]:
    ours, theirs = run.config.settings, other.config.settings
    shared = sorted((ours.keys() & theirs.keys()) - MAY_DIFFER)
    return [key for key in shared if ours[key].value != theirs[key].value]
