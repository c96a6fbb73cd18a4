"""The reward for the format rises, the reward for the answer does not.

What it sees: A component about format, tags or structure rises or stands near its ceiling, while the one about the
answer stays flat and low.
Why it hurts: The format is the easier part and pays for itself; once it is learned, nothing pushes towards right
answers if these are rarely met.
Evidence needed: reward components whose names tell format from correctness, with at least 12 points. Where the
reward is their weighted sum, the weights are read from it.
Looks alike: The first part of a healthy run: format comes first, answers follow.
What to change: Pay the format only together with a right answer, or little (0.1 of the answer); make right answers
reachable: easier prompts first, more samples per prompt.
References: DeepSeek-AI 2025 (arXiv 2501.12948), accuracy and format rewards; Search-R1's runs with format scores.
"""

from __future__ import annotations

from rlclinic.facts.language_model import MIN_POINTS, SIGNIFICANT, score_change, validation
from rlclinic.facts.reward_parts import ANSWER, FORMAT, reward_parts, weights_of_parts
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "LMR16",
    needs=("reward/*",),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    causes={"format-reward-dominates": 4.5},
)


class Limits(RuleLimits):
    fewest_points: int = 40
    """Format comes first in healthy runs too: fewer points are the first part of one."""
    learned: float = 0.8
    """Share of its own best from which on a component is learned."""
    outpaid: float = 2.0
    """Weight of the format over that of the answer from which on the reward itself asks for the format."""
    low: float = 0.3
    """Share of the format's level below which right answers earn next to nothing beside it."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the component about format with the one about the answer."""
    parts = reward_parts(facts)
    form = next((part for part in parts if FORMAT.search(part.series.logged_as)), None)
    right = next((part for part in parts if ANSWER.search(part.series.logged_as) and part is not form), None)
    held_out = validation(facts)
    if form is None or right is None or (held_out is not None and held_out.rises):
        return None
    if min(len(form.series), len(right.series)) < max(limits.fewest_points, MIN_POINTS):
        return None
    gained, answered = score_change(form.series), score_change(right.series)
    if gained is None or answered is None or answered.rises or form.late <= 0.0:
        return None
    learned = gained.rises or form.late >= limits.learned * form.best
    if not learned or right.late > limits.low * form.late:
        return None
    summary = (
        f"{form.series.logged_as} went from {gained.start:.3g} to {gained.end:.3g}, {right.series.logged_as} only "
        f"from {answered.start:.3g} to {answered.end:.3g}"
    )
    evidence = (
        facts.evidence(form.series.name, gained.errors, SIGNIFICANT, note="change of the format in standard errors"),
        facts.evidence(right.series.name, answered.errors, SIGNIFICANT, note="change of the answer in standard errors"),
    )
    weights = weights_of_parts(facts)
    paid, unpaid = weights.get(form.series.name, 0.0), weights.get(right.series.name, 0.0)
    if paid <= limits.outpaid * max(unpaid, 0.0):
        return RuleResult(Severity.WARNING, 0.7, summary, evidence)
    summary += f"; a point of the format pays {paid:.2g}, one of the answer {unpaid:.2g}"
    return RuleResult(Severity.ERROR, 0.9, summary, evidence)
