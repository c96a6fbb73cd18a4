"""The return ended no better than random actions.

What it sees: The level at the end lies within one standard deviation of what uniform random actions get on this
task (measured), or below it, after a budget in which published runs reach the goal. A return that stays below the
random level for the whole second half needs no such budget.
Why it hurts: Whatever was trained has not changed what the agent achieves.
Evidence needed: a return on a task whose random return rlclinic knows, and at least half of the env steps that
published runs needed.
Looks alike: A short run; a sparse task before its first success; rewards that a wrapper rescales, so that the
numbers cannot be compared (the rule then needs the start to lie at the random level too).
What to change: Do not tune yet. Check that updates run at all, that the reward reaches the learner, and that the
learning rate is within a factor of ten of the reference; then run the probes.
References: random returns measured with Gymnasium 1.3.0 (uniform actions).
"""

from __future__ import annotations

from rlclinic.facts.goal import known_task, reference_steps
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.return_curve import ReturnCurve
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule("SUC04", needs=("return/train|return/eval",), step=DecisionStep.TASK, means=(Sign.NOT_LEARNING,))


class Limits(RuleLimits):
    material: float = 0.5
    """Share of the published steps after which a working run is clearly above random."""
    end_within: float = 1.0
    """Standard deviations of the random return: the end must be within one, the start within one and a half."""
    start_within: float = 1.5
    lasting_points: int = 20
    """Points from which on a return that stays below the random level needs no more time to show it."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the end with the random policy."""
    task, curve, needed = known_task(facts), facts.curve, reference_steps(facts)
    taken, returns = facts.run.env_steps, facts.run.returns
    if task is None or curve is None or returns is None or not curve.enough or needed is None or taken is None:
        return None
    mean, spread = task.random_mean, task.random_std
    if mean is None or spread is None or (curve.rising and curve.climbed):
        return None
    spread = max(spread, curve.noise)
    if abs(curve.start - mean) > limits.start_within * spread or curve.final > mean + limits.end_within * spread:
        return None
    if taken < limits.material * needed and not _stays_below(curve, mean - limits.end_within * spread, limits):
        return None
    summary = (
        f"{returns.logged_as} ended at {curve.final:.4g} after {taken:,.0f} env steps; random actions get {mean:.4g} "
        f"(standard deviation {spread:.3g}) on {task.name}"
    )
    evidence = (
        facts.evidence(returns.name, curve.final, mean + limits.end_within * spread, note="level of the last points"),
        facts.evidence(
            returns.name, taken, limits.material * needed, note="env steps, against half of the published ones"
        ),
    )
    return RuleResult(Severity.WARNING, 0.85, summary, evidence)


def _stays_below(curve: ReturnCurve, level: float, limits: Limits) -> bool:
    """Whether the whole second half lies below a level that random actions hold."""
    later = curve.values[curve.values.size // 2 :]
    return curve.points >= limits.lasting_points and bool((later < level).all())
