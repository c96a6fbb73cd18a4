"""Returns are so small that the critic's own starting noise outweighs them.

What it sees: Value targets that spread by less than a hundredth, and either an explained variance far below zero at the
start (the critic's first predictions are larger than what they should predict) or no return as large as that spread:
the targets are bootstrapped from the critic's own noise.
Why it hurts: Until the critic has unlearned its initialisation, advantages are its noise; a reward this small is also
drowned by an entropy bonus, by the epsilon of the optimiser and by half precision.
Evidence needed: explained_variance and value_loss with at least 15 points.
Looks alike: Rewards that are normalised inside the learner, whose targets are of order 1. Sparse tasks without a first
success, whose returns are all equal. Critics that begin badly on returns of ordinary size.
What to change: Scale the reward so that returns are of order 1 to 10 (reward normalisation does it).
References: Henderson et al. 2018 (arXiv 1709.06560), section on reward scale; Engstrom et al. 2020 (arXiv 2005.12729).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.critic import critic_of, returns_vary, target_scale
from rlclinic.facts.goal_status import failed
from rlclinic.facts.return_state import reached_goal, return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import saturation
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "VAL11", needs=("explained_variance", "value_loss"), algorithms=("ppo", "actor-critic"), step=DecisionStep.CRITIC
)


class Limits(RuleLimits):
    tiny: float = 0.01
    """Spread of the targets in units of the value head, whose output starts of order 0.01 to 1."""
    noise: float = -0.5
    """Explained variance of the first tenth: predictions scatter more than the targets themselves."""
    after: float = 0.1
    min_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compute the implied spread of returns and look how the critic began."""
    critic, scale = critic_of(facts), target_scale(facts, limits.after)
    first = facts.early("explained_variance")
    if critic is None or scale is None or first is None or critic.steps.size < limits.min_points:
        return None
    if not 0.0 < scale < limits.tiny or not returns_vary(facts, limits.after):
        return None
    spread = facts.evidence("value_loss", scale, limits.tiny, note="sqrt(loss / (1 - explained variance)), median")
    largest = _largest_return(facts)
    if first.value <= limits.noise:
        seen = f"and explained variance began at {first.value:z.2f}: the critic's first guesses exceed the returns"
        beside = facts.evidence(
            "explained_variance", first.value, limits.noise, level=first, note="median of the first tenth"
        )
    elif largest is not None and largest < scale and failed(facts):
        seen = f"and no return is larger than {largest:.2g}: they are made of the critic's own noise"
        beside = facts.evidence(return_name(facts), largest, scale, note="largest return without its sign")
    else:
        return None
    well = reached_goal(facts) or saturation(facts) is not None
    summary, evidence = f"value targets spread by about {scale:.2g}, {seen}", (spread, beside)
    if well:
        return RuleResult(Severity.INFO, 0.6, summary, evidence, first.first_step)
    return RuleResult(Severity.WARNING, 0.8 if failed(facts) else 0.7, summary, evidence, first.first_step)


def _largest_return(facts: RunFacts) -> float | None:
    returns = facts.run.returns
    values = np.abs(returns.values[np.isfinite(returns.values)]) if returns is not None else np.empty(0)
    return float(values.max()) if values.size else None
