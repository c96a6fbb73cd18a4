"""Returns in the data have the opposite sign of those in evaluations.

What it sees: Episodes in the data have returns of one sign, evaluations of the other, of much the same size.
Why it hurts: Rewards were negated on the way into the file: costs became rewards. The better the learner, the worse it
plays.
Evidence needed: offline/data_return and return/eval.
Looks alike: A task whose returns go through zero: sizes differ there.
What to change: Store rewards as the environment pays them.
References: none; a check of units.
"""

from __future__ import annotations

from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL07",
    needs=("return/eval", "offline/data_return"),
    algorithms=("q-learning", "continuous-q"),
    causes={"reward-sign-wrong": 6.0},
)


class Limits(RuleLimits):
    alike: float = 3.0
    """Largest ratio of the sizes."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the signs."""
    found, series = offline_of(facts), facts.series("return/eval")
    if found is None or series is None or found.data_return == 0 or found.final == 0:
        return None
    ratio = abs(found.final / found.data_return)
    opposite = (series.values * found.data_return < 0).all() and found.data_best * found.data_return > 0
    if not opposite or not 1.0 / limits.alike <= ratio <= limits.alike:
        return None
    summary = (
        f"episodes in the data have a mean return of {found.data_return:.4g}, evaluations end at {found.final:.4g}"
    )
    evidence = (facts.evidence("return/eval", found.final, 0.0, note="of the other sign than the data"),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)
