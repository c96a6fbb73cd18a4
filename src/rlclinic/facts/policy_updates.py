"""What a policy update consists of: how far its clip lets the policy go, and the size of what enters the loss."""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.signals._robust import quantile

# Words for advantages that enter the loss as they are.
NOT_NORMALISED = (False, "off", "none", "false", "False")
# KL of updates up to which ratios stay near 1, and sizes of a loss that normalised advantages then cannot make.
ORDINARY_KL, FAR_ABOVE_ONE = 0.3, 5.0
REPLACED = 1.0
"""Nats per update that no working run comes near: ratios are off by a factor of e and more, so that the batch says
nothing about the policy that comes out. A size that decides by itself, however few the updates."""
FEWEST_UPDATES = 3


def clip_range(facts: RunFacts) -> float | None:
    """The ratio clip in force, or as configured."""
    level = facts.level("clip_range")
    value = level.value if level is not None else facts.setting("clip_range")
    return value if value is not None and 0.0 < value < float("inf") else None


def clip_kl(clip: float) -> float:
    """KL of a policy whose ratios all stand at the clip: (r - 1) - ln r is about clip**2 / 2 near 1."""
    return 0.5 * clip * clip


@fact
def share_replaced(facts: RunFacts) -> float:
    """Share of the updates, at least three, that left nothing of the policy."""
    kl = facts.series("approx_kl")
    sizes = kl.values[np.isfinite(kl.values)] if kl is not None else np.empty(0)
    return float((sizes >= REPLACED).mean()) if sizes.size >= FEWEST_UPDATES else 0.0


def replaces_policy(facts: RunFacts) -> bool:
    """Whether most updates do, so that nothing is learned step by step."""
    return share_replaced(facts) > 0.5


def advantages_are_normalised(facts: RunFacts) -> bool:
    """Whether advantages of size 1 enter the loss, as in nearly all trainers where nothing else is said."""
    return facts.run.config.get("normalize_advantage") not in NOT_NORMALISED


@fact
def loss_has_scale_of_returns(facts: RunFacts) -> float:
    """Size of early policy losses that no normalised advantage makes; 0 where the losses are of ordinary size.

    With ratios near 1 the loss is about the mean advantage, whose spread is 1 once normalised.
    """
    loss, kl = facts.series("policy_loss"), facts.early("approx_kl")
    if loss is None or kl is None or abs(kl.value) > ORDINARY_KL:
        return 0.0
    sizes = np.abs(loss.values[np.isfinite(loss.values)])
    largest = quantile(sizes[: max(1, sizes.size // 10)], 0.99) if sizes.size else 0.0
    return largest if largest > FAR_ABOVE_ONE else 0.0
