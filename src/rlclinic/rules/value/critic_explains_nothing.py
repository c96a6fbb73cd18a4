"""The critic explains nothing: its predictions are as good as a constant throughout.

What it sees: Explained variance within 0.1 of zero in every quarter of the run, on returns that vary.
Why it hurts: Without a baseline the policy gradient is REINFORCE on raw returns: it can learn, but it needs far more
data, and bootstrapped targets carry no information.
Evidence needed: explained_variance with at least 20 points; value_loss and a return tell whether the returns vary.
Looks alike: Returns that are nearly constant. Short runs: critics on unscaled returns need some dozens of updates.
Runs that learn all the same, on easy tasks: a note only.
What to change: Scale the returns to the order of 1 (reward normalisation), widen or remove the value clip, raise the
critic's learning rate; if the gradient norm is far above its clip, the value loss starves everything else.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.4; Stable-Baselines3 issue 2240.
"""

from __future__ import annotations

from itertools import pairwise

from rlclinic.facts.critic import has_critic, returns_vary
from rlclinic.facts.goal import had_time
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("VAL03", needs=("explained_variance",), algorithms=("ppo", "actor-critic"), step=DecisionStep.CRITIC)


class Limits(RuleLimits):
    nothing: float = 0.1
    """Distance from zero within which a critic is as good as a constant."""
    after: float = 0.1
    """The first points are left out: critics start at random."""
    min_points: int = 20
    warning_points: int = 40
    """Points of the return from which on its lack of a rise is more than a short run."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge every quarter of the run."""
    series = facts.series("explained_variance")
    if series is None or len(series) < limits.min_points or not has_critic(facts):
        return None
    edges = (limits.after, 0.25, 0.5, 0.75, 1.0)
    levels = [facts.level("explained_variance", a, b) for a, b in pairwise(edges)]
    found = [level for level in levels if level is not None]
    if len(found) < len(levels) or any(abs(level.value) > limits.nothing for level in found):
        return None
    if not all(returns_vary(facts, start, start + 0.25) for start in (0.25, 0.5, 0.75)):
        return None
    furthest = max(found, key=lambda level: abs(level.value))
    curve = facts.curve
    long_enough = curve is not None and curve.points >= limits.warning_points
    hurts = long_enough and suffers(facts) and had_time(facts)
    beside = f"; the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = (
        f"explained variance stays between {min(level.value for level in found):z.2f} and "
        f"{max(level.value for level in found):.2g} in every quarter of {len(series)} points{beside}"
    )
    evidence = (
        facts.evidence(
            "explained_variance", furthest.value, limits.nothing, level=furthest, note="quarter furthest from zero"
        ),
    )
    return RuleResult(Severity.WARNING if hurts else Severity.INFO, 0.7 if hurts else 0.6, summary, evidence, None)
