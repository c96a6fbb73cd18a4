"""Offline training passed its best policy long ago and went on making it worse.

What it sees: A run on a fixed data set whose evaluation peaked in the first two thirds and then lost a clear part of
it for good.
Why it hurts: More updates on the same data push Q beyond what the data support. The last checkpoint is not the one to
use.
Evidence needed: return/eval with at least 12 points of a run without an environment.
Looks alike: One lucky evaluation: the smoothed curve counts, and the loss must be beyond its noise and lasting. A
flat curve after a quick success.
What to change: Use the best checkpoint; stop there next time, raise conservatism, or lower the learning rate.
References: Kumar et al. 2021 (arXiv 2109.10813) on when to stop offline training.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.offline import is_offline
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("OFF12", needs=("return/eval",), algorithms=("q-learning", "continuous-q"))


class Limits(RuleLimits):
    fewest_points: int = 12
    long_ago: float = 0.7
    """Share of the run within which the best lies."""
    noises: float = 4.0
    """Loss since the best, in units of the noise, and as a share of the range between worst and best."""
    share_lost: float = 0.2


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the best of the smoothed evaluation with its end."""
    curve = facts.curve_of("return/eval")
    if curve is None or curve.points < limits.fewest_points or not is_offline(facts):
        return None
    span = float(curve.steps[-1] - curve.steps[0]) or 1.0
    where = (curve.best_step - float(curve.steps[0])) / span
    reach = curve.best - float(np.min(curve.values))
    bar = max(limits.noises * curve.scatter, limits.share_lost * reach)
    if where > limits.long_ago or curve.drop < bar:
        return None
    summary = (
        f"the evaluation was best at {100 * where:.0f}% of the run ({curve.best:.4g}) and ended at "
        f"{curve.final:.4g}, a loss of {curve.drop:.3g}"
    )
    evidence = (
        facts.evidence("return/eval", curve.drop, bar, note="best of the smoothed curve minus the last 12%"),
        facts.evidence("return/eval", where, limits.long_ago, note="where the best lies, as a share of the run"),
    )
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, curve.best_step)
