"""Ratios never leave 1 although each batch is used for several gradient steps.

What it sees: KL and clip fraction are exactly zero at every point, with more than one gradient step per batch and a
learning rate above zero.
Why it hurts: Either the old log-probability is computed anew after each step, so that ratio and clip do nothing, or
the policy's parameters are not in the optimiser and nothing is learned. Whether the entropy moves tells which.
Evidence needed: approx_kl with at least 15 points that were not rounded, and the number of gradient steps per batch:
from the config, or in a run that does badly from the log's count of passes, else as is usual.
Looks alike: One gradient step per batch, where the ratio is 1 by construction. Values printed with few decimals. A
run that stopped to update (another rule). A policy that is deterministic already, whose ratios are 1 whatever moves.
What to change: Store the log-probability when the action is sampled and never again; check that the optimiser holds
the policy's parameters.
References: higgsfield/RL-Adventure-2#20, tensorforce#312, ElegantRL#243 (old log-prob recomputed after the update).
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import dead_from_start
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.facts.stretch import finite
from rlclinic.facts.update_count import steps_per_batch
from rlclinic.model.finding import Severity
from rlclinic.rules.policy.policy_never_moves import is_frozen
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult
from rlclinic.signals._robust import median
from rlclinic.signals.constants import constants

RULE = Rule(
    "IMP02",
    needs=("approx_kl", "config:n_epochs|return/train"),
    algorithms=("ppo",),
    covered_by=("OPT12",),
    step=DecisionStep.UPDATE_SIZE,
)


class Limits(RuleLimits):
    rounding_noise: float = 1e-9
    """KL that float32 rounding alone leaves on a ratio of exactly 1, in nats."""
    least_rate: float = 1e-6
    """Smallest learning rate whose steps must show."""
    usual_passes: float = 3.0
    """Passes over a batch where neither config nor log tell: nobody trains with fewer but on purpose."""
    fewest_points: int = 15


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for a KL of exactly zero where steps must have moved it."""
    kl, steps, rate = facts.series("approx_kl"), steps_per_batch(facts), positive(facts, "learning_rate")
    if kl is None or kl.decimals is not None or len(kl) < limits.fewest_points or facts.is_language_model:
        return None
    if rate is None:
        logged = facts.level("learning_rate")
        rate = logged.value if logged is not None else limits.least_rate
    known = steps is not None
    if steps is None:
        steps = _passes(facts, limits)
    if steps <= 1.0 or rate < limits.least_rate:
        return None
    if dead_from_start(facts):
        return None
    largest = float(np.abs(finite(kl)[1]).max())
    clipped = facts.series("clip_fraction")
    if largest > limits.rounding_noise or (clipped is not None and (clipped.highest or 0.0) > 0.0):
        return None
    entropy = facts.series("entropy")
    moves = entropy is not None and not constants(entropy).constant and not is_frozen(facts)
    how = "the entropy moves: the old log-probability seems to be computed anew" if moves else "nothing moves at all"
    summary = f"{kl.logged_as} is 0 at all {len(kl)} points with {steps:.0f} gradient steps per batch: {how}"
    evidence = (facts.evidence("approx_kl", largest, limits.rounding_noise, note="largest size, against rounding"),)
    return RuleResult(Severity.ERROR, 0.8 if known else 0.5, summary, evidence, float(kl.steps[0]))


def _passes(facts: RunFacts, limits: Limits) -> float:
    """Passes over each batch by the log's own count, in a run that does badly; else what is usual."""
    counted = facts.series("updates")
    if not suffers(facts):
        return 1.0
    counts = finite(counted)[1] if counted is not None else np.empty(0)
    return median(np.diff(counts)) if counts.size > 1 else limits.usual_passes
