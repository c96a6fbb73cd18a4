"""The soft Q values are about the entropy, not about the reward.

What it sees: Every return of the run is negative and the mean soft Q is clearly positive over the last third: what
makes it positive is the entropy bonus.
Why it hurts: The policy maximises the sum of reward and weighted entropy. Where the bonus is the larger part, acting at
random is the best policy, and the return stays that of a random one.
Evidence needed: q/mean (or the actor loss) of a soft actor-critic, and returns.
Looks alike: Tasks with positive rewards that the agent does not find yet: a critic that only hopes for them hardly
exceeds their size. Rewards that are shifted inside the learner.
What to change: Let the temperature be tuned (ent_coef auto) with a target entropy of minus the number of action
dimensions; with a fixed temperature lower it, or scale the rewards up.
References: Haarnoja et al. 2018 (arXiv 1812.05905), sections 4 and 5: reward scale and temperature are one quantity.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.q_values import q_series, rewards_rescaled
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median

RULE = Rule(
    "OFF16",
    needs=("q/mean|q1/mean|policy_loss", "return/train|return/eval"),
    algorithms=("continuous-q",),
    step=DecisionStep.EXPLORATION,
)


class Limits(RuleLimits):
    fewest_points: int = 8
    clear: float = 2.0
    """Rewards of a step, in size, from which on a mean Q is clearly positive."""
    late: float = 0.34


LIMITS = Limits()
RETURNS = ("return/train", "return/eval", "return/train_max", "return/eval_max")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the signs of Q and of all returns."""
    q, curve = q_series(facts), facts.curve
    if q is None or curve is None or "SAC" not in facts.run.algorithm.upper() or rewards_rescaled(facts):
        return None
    seen = [found.highest for name in RETURNS if (found := facts.series(name)) is not None]
    highest = max((value for value in seen if value is not None), default=None)
    steps, values = finite(q)
    if highest is None or highest >= 0.0 or values.size < limits.fewest_points or not suffers(facts):
        return None
    late = values[-max(1, int(limits.late * values.size)) :]
    length = facts.late("episode_length")
    steps_each = length.value if length is not None and length.value > 0 else 1.0
    level, bar = median(late), limits.clear * abs(curve.final) / steps_each
    if level < bar:
        return None
    above = np.flatnonzero(values < 0.0)
    onset = float(steps[min(int(above[-1]) + 1, steps.size - 1)]) if above.size else float(steps[0])
    summary = (
        f"mean soft Q is {level:.4g} over the last third although no return is above {highest:.4g}: the entropy bonus "
        "is the larger part of it"
    )
    evidence = (facts.evidence(q.name, level, bar, note="median of the last third"),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence, onset)
