"""The policy loss lies below what the clipped objective can reach.

What it sees: A policy loss of PPO below minus the clip range, in units of the advantages. The smaller of the clipped
and the unclipped term gains at most the clip range times the mean size of the advantages, and with normalised ones that
size is at most 1: the loss cannot come out lower.
Why it hurts: The loss is not the one that is meant. With a flipped sign the larger side of the objective is minimised,
which nothing bounds: the policy runs towards its worst actions and the clip does not hold it. A clip that is missing
looks the same.
Evidence needed: policy_loss with at least 10 points, and the clip range where known (else 0.3, the widest in use).
Looks alike: Advantages that are not normalised, whose loss has their size: there their logged spread is the unit. A
loss that is summed over action dimensions or over a batch.
What to change: Compare the surrogate with the paper's, sign by sign: minus the mean of the minimum of ratio times
advantage and clipped ratio times advantage. Then train on a bandit with two arms: the better one must win.
References: Schulman et al. 2017 (arXiv 1707.06347), equation 7; probe P5 (advantage sign).
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.policy_updates import advantages_are_normalised, clip_range, loss_has_scale_of_returns
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "IMP08",
    needs=("policy_loss", "return/train|return/eval"),
    algorithms=("ppo",),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.NOT_LEARNING,),
)


class Limits(RuleLimits):
    widest_clip: float = 0.3
    room: float = 1.05
    """Room for the rounding of minibatches."""
    fewest_points: int = 10
    fewest_below: int = 2
    """Rows that must show it: one may be a slip of the log."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count the rows below the bound."""
    series, clip = facts.series("policy_loss"), clip_range(facts) or limits.widest_clip
    if series is None or facts.is_language_model or not suffers(facts):
        return None
    steps, values = finite(series)
    bound = -limits.room * clip * _unit(facts)
    below = values < bound
    if values.size < limits.fewest_points or below.sum() < limits.fewest_below:
        return None
    lowest = float(values.min())
    summary = (
        f"{series.logged_as} reached {lowest:.3g} and is below {bound:.3g} in {int(below.sum())} of {values.size} "
        f"rows, which a clip range of {clip:.3g} should not allow"
    )
    evidence = (facts.evidence("policy_loss", lowest, bound, note="lowest, against minus clip times advantage"),)
    return RuleResult(Severity.ERROR, 0.85, summary, evidence, float(steps[int(np.argmax(below))]))


def _unit(facts: RunFacts) -> float:
    """Size of the advantages in the loss: 1 where they are normalised, as nearly all trainers do."""
    if loss_has_scale_of_returns(facts):
        return math.inf
    if advantages_are_normalised(facts):
        return 1.0
    mean, spread = facts.level("advantage/mean"), facts.level("advantage/std")
    return math.hypot(mean.value if mean is not None else 0.0, spread.value) if spread is not None else math.inf
