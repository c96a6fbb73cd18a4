"""Single advantages are so large that a few samples decide every update.

What it sees: The largest advantage is 20 or more standard deviations away at the middle of the run's points.
Why it hurts: After normalisation the update follows those few samples, and the rest of the batch counts next to
nothing. Rare huge rewards, unbounded penalties and value errors at episode ends do this.
Evidence needed: advantage/abs_max and advantage/std with at least 12 points each, both before or both after
normalisation.
Looks alike: Sparse tasks, where the rare success is the signal: with a rising return this is a note only. Normal
batches of some thousand samples reach 4 to 6.
What to change: Clip or squash rewards that are far from the rest, use a larger batch, and check terminal rewards and
the bootstrap at time limits.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4; Engstrom et al. 2020 (arXiv 2005.12729).
"""

from __future__ import annotations

from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "VAL06",
    needs=("advantage/abs_max", "advantage/std"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.ADVANTAGES,
    means=(Sign.RETURNS_TOO_LARGE,),
)


class Limits(RuleLimits):
    extreme: float = 20.0
    """Largest over standard deviation. A batch of n samples cannot exceed sqrt(n - 1)."""
    min_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the largest advantage with the spread."""
    largest, spread, curve = facts.level("advantage/abs_max"), facts.level("advantage/std"), facts.curve
    if (
        largest is None
        or spread is None
        or min(largest.points, spread.points) < limits.min_points
        or spread.value <= 0.0
    ):
        return None
    ratio = largest.value / spread.value
    if ratio < limits.extreme:
        return None
    hurts = suffers(facts)
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = (
        f"the largest advantage is {largest.value:.3g} where their standard deviation is {spread.value:.3g}, "
        f"{ratio:.0f} times as much (4 to 6 is common){beside}"
    )
    evidence = (
        facts.evidence(
            "advantage/abs_max", ratio, limits.extreme, level=largest, note="median over median of advantage/std"
        ),
    )
    return RuleResult(Severity.WARNING if hurts else Severity.INFO, 0.6 if hurts else 0.5, summary, evidence, None)
