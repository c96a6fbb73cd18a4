"""A loss is exactly zero at every point although the returns it should fit differ.

What it sees: The value loss, or policy and value loss, is 0 to the last digit at all points while returns vary.
Why it hurts: An exact, constant zero is a fault of the log before it is one of training: sums divided by planned
instead of made updates, a metric reset before it is written, or a loss whose coefficient is zero.
Evidence needed: value_loss with at least 10 points that were not rounded, and a return that varies.
Looks alike: A printed 0.000, which is only small. Losses of frameworks that log a placeholder for algorithms without
a critic. Returns that are all the same, which a critic fits exactly.
What to change: Log the loss where it is computed, before any division; check its coefficient.
References: snake-hrl-torchrl (losses averaged over planned updates after an early stop: all 0.0000).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals.constants import constants

RULE = Rule("IMP07", needs=("value_loss", "return/train|return/eval"), step=DecisionStep.CRITIC)


class Limits(RuleLimits):
    fewest_points: int = 10


LIMITS = Limits()
# Algorithms without a critic of their own.
NO_CRITIC = frozenset({"REINFORCE", "ARS"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for exact zeros."""
    loss = facts.series("value_loss")
    if loss is None or len(loss) < limits.fewest_points or facts.is_language_model:
        return None
    if facts.run.algorithm.upper() in NO_CRITIC or facts.setting("vf_coef") == 0.0:
        return None
    found = constants(loss)
    if not found.constant or found.zeros < limits.fewest_points or loss.decimals is not None:
        return None
    returns = facts.run.returns
    if returns is None or constants(returns).constant:
        return None
    policy = facts.series("policy_loss")
    both = policy is not None and constants(policy).constant and constants(policy).zeros == len(policy)
    names = loss.logged_as + (f" and {policy.logged_as}" if both and policy is not None else "")
    summary = f"{names} is exactly 0 at all {len(loss)} points while returns differ"
    evidence = (facts.evidence("value_loss", float(found.zeros), 0.0, note="points that are exactly zero"),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, float(loss.steps[0]))
