"""Labels ended, or were hardly asked for, while the imitator still erred.

What it sees: The expert gave no more labels from some step on, or was asked in few of the steps while the imitator is
far from it on its own states, or in next to none of the second half; and the return stays below the goal.
Why it hurts: The states where mistakes are made are the ones whose labels are missing.
Evidence needed: imitation/queries and imitation/disagreement.
Looks alike: A gate that asks rarely because the imitator does well: then the goal is reached. That it agrees on its own
states says less: where it is stuck, it may agree.
What to change: Raise the budget of labels, spend it where the policy is unsure, or lower the gate's threshold.
References: Zhang & Cho 2017 (arXiv 1605.06450); Menda et al. 2019 (arXiv 1807.08364).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.imitation import imitation_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMI06",
    needs=("return/eval", "imitation/queries"),
    algorithms=("imitation",),
    causes={"expert-queries-too-few": 6.0},
)


class Limits(RuleLimits):
    early: float = 0.8
    """Share of the budget before which the labels ended."""
    asked: float = 0.25
    """Labels per step below which a gate asks rarely."""
    apart: float = 0.1
    """Distance from the expert on own states that is far for one who asks rarely."""
    seldom: float = 0.05
    """Labels per step of the second half below which a gate asks for nothing."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge when labels ended, and how often they were asked for."""
    found, queries = imitation_of(facts), facts.series("imitation/queries")
    if found is None or not found.short or queries is None or queries.last is None:
        return None
    gone, budget = facts.series("imitation/expert_gone"), facts.run.budget
    if gone is not None and budget and (gone.last or 0.0) < limits.early * budget:
        share = float(gone.last or 0.0) / budget
        summary = f"the expert gave no more labels after {share:.0%} of the budget; {found.told}"
        ended = facts.evidence("imitation/expert_gone", share, limits.early, note="share of the budget")
        return RuleResult(Severity.WARNING, 0.85, summary, (ended,))
    steps = float(queries.steps[-1])
    rate = queries.last / steps if steps else 1.0
    earlier = float(np.interp(steps / 2, queries.steps, queries.values))
    late = 2 * (queries.last - earlier) / steps if steps else 1.0
    if late < limits.seldom:
        summary = f"labels for {late:.0%} of the steps of its second half; {found.told}"
        asked = facts.evidence("imitation/queries", late, limits.seldom, note="labels per step, second half")
        return RuleResult(Severity.WARNING, 0.65, summary, (asked,))
    if rate >= limits.asked or found.disagreement is None or found.disagreement < limits.apart:
        return None
    summary = f"labels for {rate:.0%} of the steps, {found.disagreement:.2f} from the expert; {found.told}"
    evidence = (
        facts.evidence("imitation/queries", rate, limits.asked, note="labels per step"),
        facts.evidence("imitation/disagreement", found.disagreement, limits.apart, note="on its own states"),
    )
    return RuleResult(Severity.WARNING, 0.65, summary, evidence)
