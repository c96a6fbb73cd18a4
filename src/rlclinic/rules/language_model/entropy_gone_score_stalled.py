"""Entropy is nearly gone and the score has stopped rising, or never began to.

What it sees: Entropy fell to a small part of its start while neither score nor validation rises and there is room
above; or it is as good as zero, and both stand still since the middle of the run.
Why it hurts: With hardly any variety the responses of a group are alike; the groups are tied and nothing new is found.
Evidence needed: entropy and the score with at least 12 points each.
Looks alike: Convergence: in healthy runs entropy falls by 60 to 90 percent while the score rises.
What to change: Raise the upper clip (0.28 with 0.2 below), sample at temperature 1, filter tied groups, lower the
learning rate; an entropy bonus last.
References: Cui et al. 2025 (arXiv 2505.22617); Yu et al. 2025 (DAPO, arXiv 2503.14476).
"""

from __future__ import annotations

from rlclinic.facts.language_model import change, is_near_ceiling, is_progressing, is_stalled, told, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite, lasting_from, rounding
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR08", needs=("entropy", "return/train"), algorithms=("language-model", "ppo"), step=DecisionStep.EXPLORATION
)


class Limits(RuleLimits):
    nearly_gone: float = 0.1
    """Late over early entropy: less than what healthy runs keep."""
    first: float = 0.05
    """Share of the run that is its very beginning."""
    gone: float = 0.02
    """The same for runs that rose at first: next to nothing, a fifth of the least that healthy runs keep."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the fall of entropy with the score."""
    series, levels = facts.series("entropy"), change(facts, "entropy")
    if not facts.is_language_model or series is None or levels is None or training(facts) is None:
        return None
    # It may be gone within the first tenth of the run: the highest early level counts.
    first = facts.early("entropy", limits.first) or levels[0]
    early, late = max(first, levels[0], key=lambda level: level.value), levels[1]
    if early.value <= max(0.0, 20 * rounding(series)) or late.value > limits.nearly_gone * early.value:
        return None
    share = late.value / early.value
    stalled = not is_progressing(facts) or (share <= limits.gone and is_stalled(facts))
    if not stalled or is_near_ceiling(facts):
        return None
    fall = f"from {early.value:.3g} to {late.value:.3g} ({100 * share:.2g}% of its start)"
    summary = f"entropy fell {fall} while {told(facts)}"
    evidence = (facts.evidence("entropy", share, limits.nearly_gone, level=late, note="late over early entropy"),)
    steps, values = finite(series)
    return RuleResult(
        Severity.WARNING, 0.75, summary, evidence, lasting_from(steps, values <= limits.nearly_gone * early.value)
    )
