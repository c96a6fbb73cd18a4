"""KL is large from the first batch although the policy objective stays at zero.

What it sees: KL per update far above what the policy loss could come with, already in the first rows, when old and
new policy are the same.
Why it hurts: The ratio compares two different actions: the new log-probability belongs to a freshly sampled action
instead of the stored one. The ratio no longer depends on the advantage, and the policy gradient is noise.
Evidence needed: approx_kl and policy_loss with at least 5 points.
Looks alike: A learning rate that is far too high also gives large KL, but with a large policy loss and a KL that
grows from a small first value.
What to change: Evaluate the distribution on the stored action. Test: with a frozen actor every ratio is 1.
References: Albatross679/snake-hrl-torchrl at 2451924, whose log shows KL 8.04 to 5.85 at a policy loss of 0.0000.
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.mmrkhs import is_mmrkhs
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median

RULE = Rule("MMR03", needs=("approx_kl", "policy_loss"), algorithms=("actor-critic",), means=(Sign.BUG,))


class Limits(RuleLimits):
    large: float = 0.2
    """Nats in the first rows; a first update from identical policies starts at 0."""
    surrogate: float = 0.05
    """The surrogate of unit-variance advantages gains up to sqrt(2 KL) from a step of that KL; a real step gets a
    good part."""
    grew: float = 3.0
    """Late over first KL: the artefact is there from the start and does not grow."""
    fewest_points: int = 5


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the first KL with the last, and the policy loss with what such a KL would gain."""
    kl, loss = facts.series("approx_kl"), facts.series("policy_loss")
    if kl is None or loss is None or len(kl) < limits.fewest_points or not is_mmrkhs(facts):
        return None
    first, late = median(kl.values[:3]), facts.late("approx_kl", 0.3)
    size = median(np.abs(loss.values[np.isfinite(loss.values)]))
    if late is None or not first >= limits.large or late.value < limits.large or late.value > limits.grew * first:
        return None
    bar = limits.surrogate * math.sqrt(2.0 * min(first, late.value))
    if size > bar:
        return None
    summary = (
        f"KL is {first:.3g} nats in the first rows and {late.value:.3g} at the end while the policy loss stays at "
        f"{size:.2g}: a step of that KL would gain up to {math.sqrt(2.0 * first):.2g}"
    )
    evidence = (
        facts.evidence("approx_kl", first, limits.large, note="median of the first three rows"),
        facts.evidence("policy_loss", size, bar, note="median size against 5% of sqrt(2 KL)"),
    )
    return RuleResult(Severity.ERROR, 0.8, summary, evidence, float(kl.steps[0]))
