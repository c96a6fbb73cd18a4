"""The policy loss is as large as the returns: the advantages in it are not normalised.

What it sees: A policy loss of PPO far above 1 while the policy moves in updates of ordinary size. Normalised advantages
have a spread of 1, and with ratios near 1 the loss cannot exceed that by much.
Why it hurts: The step that a batch asks for then depends on the scale of the reward: one batch of large returns
outweighs all others, and the clip of the gradient alone decides how far the policy goes.
Evidence needed: policy_loss and approx_kl with at least 10 points.
Looks alike: A loss that is summed over a batch or over action dimensions. A2C, which does not normalise by default. A
policy that is already destroyed, whose ratios are far from 1.
What to change: Normalise advantages per batch, or scale rewards so that returns are of order 1. Stable-Baselines3 does
not normalise minibatches of a single sample: enlarge the batch.
References: Andrychowicz et al. 2021 (arXiv 2006.05990); Stable-Baselines3, PPO.train (normalize_advantage).
"""

from __future__ import annotations

from rlclinic.facts.policy_updates import loss_has_scale_of_returns
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("VAL14", needs=("policy_loss", "approx_kl"), algorithms=("ppo",), step=DecisionStep.ADVANTAGES)


class Limits(RuleLimits):
    fewest_points: int = 10


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the largest early losses with what normalised advantages allow."""
    loss = facts.series("policy_loss")
    size = loss_has_scale_of_returns(facts)
    if loss is None or not size or len(loss) < limits.fewest_points or facts.is_language_model:
        return None
    made = "in updates of ordinary size, which advantages of spread 1 do not make"
    summary = f"{loss.logged_as} was as large as {size:.3g} {made}"
    evidence = (facts.evidence("policy_loss", size, 1.0, note="size of the early losses, against the spread of 1"),)
    return RuleResult(
        Severity.WARNING if suffers(facts) else Severity.INFO, 0.8, summary, evidence, float(loss.steps[0])
    )
