"""Q values are higher than any return ever seen allows.

What it sees: The mean Q stays at least twice as large, in size, as the largest discounted return that fits the
observed returns, episode lengths and gamma, over the last third of the run.
Why it hurts: The maximum over noisy estimates is biased upwards, and targets hand the bias on. The policy prefers
actions whose value is most wrong.
Evidence needed: q/mean (or the actor loss of SAC, TD3, DDPG), gamma in the config, a return.
Looks alike: Rewards scaled or normalised inside the learner; soft Q values that contain the entropy bonus (allowed
for); values that go on beyond the time limit (allowed for).
What to change: Use double Q-learning or the smaller of two critics, lower the learning rate, slow the target, check
that terminal states are not bootstrapped.
References: van Hasselt et al. 2016 (arXiv 1509.06461); Fujimoto et al. 2018 (arXiv 1802.09477).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.goal_status import failed
from rlclinic.facts.q_values import q_bound, q_series
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median

RULE = Rule(
    "OFF11",
    needs=("q/mean|q1/mean|policy_loss", "config:gamma", "return/train|return/eval"),
    algorithms=("q-learning", "continuous-q"),
    step=DecisionStep.CRITIC,
    means=(Sign.CRITIC_DIVERGES,),
)


class Limits(RuleLimits):
    above: float = 2.0
    """Size of mean Q over the largest possible one. Working DQN runs overshoot by up to a half."""
    far_above: float = 10.0
    fewest_points: int = 12
    nearly_all: float = 0.9
    """Share of the points of the last third that must lie above."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold Q against the bound over the last third."""
    q, bound = q_series(facts), q_bound(facts)
    if q is None or bound is None or not bound.gamma_known or len(q) < limits.fewest_points:
        return None
    sizes = np.abs(q.values[np.isfinite(q.values)])
    last_third = sizes[-max(1, sizes.size // 3) :]
    bar = limits.above * bound.value
    if float(np.mean(last_third > bar)) < limits.nearly_all:
        return None
    level = median(last_third)
    above = np.flatnonzero(~(np.abs(q.values) > bar))
    onset = float(q.steps[min(int(above[-1]) + 1, len(q) - 1)]) if above.size else float(q.steps[0])
    summary = (
        f"the size of mean Q is {level:.4g} over the last third, {level / max(bound.value, 1e-12):.3g} times the "
        f"largest discounted return compatible with the returns seen ({bound.value:.4g} at gamma {bound.gamma:g})"
    )
    evidence = (facts.evidence(q.name, level, bar, note=f"median of the last third; bound: {bound.note}"),)
    severe = failed(facts) or level > limits.far_above * bound.value
    return RuleResult(Severity.WARNING if severe else Severity.INFO, 0.75 if severe else 0.5, summary, evidence, onset)
