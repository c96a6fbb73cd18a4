"""Evaluations fell back while the mean over past episodes does not show it.

What it sees: Evaluations stood at a level that they have lost again by at least 40% of their climb, and by more than
their scatter, beside a training return that has not fallen.
Why it hurts: The last policy is worse than one the run already had. A training return over the last 100 episodes is
late: with episodes that grow longer it still climbs towards what the policy could do a while ago.
Evidence needed: return/eval with at least 12 points beside a training return.
Looks alike: Evaluations over few episodes that scatter as much as they climbed. One bad last evaluation (the last fifth
counts, at least five points). A goal that is held.
What to change: Keep the checkpoint of the best evaluation. For the next run lower the learning rate or let it decay,
and look at the findings on KL and epochs.
References: Engstrom et al. 2020 (arXiv 2005.12729); Henderson et al. 2018 (arXiv 1709.06560) on judging by evaluations.
"""

from __future__ import annotations

from rlclinic.facts.evaluations import lost_evaluations
from rlclinic.facts.return_state import has_fallen
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleResult, Sign
from rlclinic.rules.words import steps_text

RULE = Rule("EVA07", needs=("return/train", "return/eval"), means=(Sign.UNSTABLE, Sign.EVALUATION_FELL_BEHIND))


def check(facts: RunFacts) -> RuleResult | None:
    """Look for a level that only the evaluations had and lost."""
    lost, returns = lost_evaluations(facts), facts.run.returns
    if lost is None or returns is None or has_fallen(facts):
        return None
    curve = lost.curve
    summary = (
        f"{lost.series.logged_as} stood at {curve.best:.4g} at {steps_text(facts, curve.best_step)} and at "
        f"{lost.end:.4g} over the last {lost.points} evaluations: {100 * lost.drop / curve.climb:.0f}% of the climb "
        f"from {curve.start:.4g} is lost; {returns.logged_as} does not show it"
    )
    note = "best level of five evaluations minus the last ones"
    evidence = (facts.evidence("return/eval", lost.drop, lost.bar, note=note),)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, curve.best_step)
