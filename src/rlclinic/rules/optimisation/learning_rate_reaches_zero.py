"""The learning rate is practically zero long before the end.

What it sees: A logged learning rate that fell below 1% of its highest value when a fifth of the run, or more, was
still to come.
Why it hurts: From there on the run only collects data. The rest of the budget changes nothing.
Evidence needed: learning_rate with at least 12 points.
Looks alike: A linear schedule that ends with the budget. Warm-up at the start. Rates printed with too few decimals. A
task that was solved by then.
What to change: Stretch the schedule over the whole budget (check which budget it was given: of one process, or before
a resume), or end it at a tenth of the start.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.7, on decay of the learning rate.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.return_state import reached_goal
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import rounding
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("OPT04", needs=("learning_rate",))


class Limits(RuleLimits):
    nothing: float = 0.01
    """Share of the highest rate."""
    left: float = 0.2
    """Share of the run that is still to come."""
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find where the rate falls to nothing for good, and how much of the run is left."""
    rate = facts.series("learning_rate")
    if rate is None or len(rate) < limits.fewest_points:
        return None
    top = rate.highest or 0.0
    if top <= 0 or rounding(rate) > limits.nothing * top:
        return None
    above = np.flatnonzero(~(rate.values <= limits.nothing * top))
    gone = int(above[-1]) + 1
    if gone >= len(rate):
        return None
    onset = float(rate.steps[gone])
    end = _end(facts, rate.axis, float(rate.steps[-1]))
    left = 1.0 - onset / end if end > 0 else 0.0
    if left < limits.left:
        return None
    good = reached_goal(facts)
    summary = (
        f"{rate.logged_as} fell below 1% of {top:.3g} at step {onset:,.0f}, with {100 * left:.0f}% of the run "
        f"({end:,.0f}) still to come"
    )
    evidence = (facts.evidence("learning_rate", left, limits.left, note="share of the run after the rate is gone"),)
    return RuleResult(Severity.INFO if good else Severity.WARNING, 0.85, summary, evidence, onset)


def _end(facts: RunFacts, axis: str, last: float) -> float:
    """The last step, or the budget of a run that is still on its way to it."""
    run = facts.run
    if axis != run.step_axis:
        return last
    return max(last, run.steps)
