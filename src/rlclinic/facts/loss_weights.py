"""The weights of value loss and entropy in the total loss, as the logged parts tell where no config does.

The total is policy loss + vf_coef * value loss - ent_coef * entropy. Rows of a log give one equation each; least
squares solves them. Trainers log the total of one minibatch beside means of all, so the answer is rough: good for the
order of magnitude, which is what matters.
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import median

FEWEST_ROWS = 8
# Share of the variance of the total that the parts must explain, and standard errors that a weight must exceed.
EXPLAINED, SURE = 0.6, 4.0
# Share of the total without the policy's part that the bonus must make up.
MATERIAL = 0.3
# Nats: where the entropy is not logged, a choice among eighteen actions, the most of common tasks, has no more.
MOST_ENTROPY = math.log(18)


@dataclass(frozen=True, slots=True)
class LossWeights:
    """What the parts of the loss are multiplied with; None where the log does not tell."""

    value: float | None = None
    entropy: float | None = None
    """A weight that is at least this large."""


@fact
def loss_weights(facts: RunFacts) -> LossWeights:
    """Solve for the weights."""
    names = ("loss", "policy_loss", "value_loss")
    total, policy, value = (_values(facts, name) for name in names)
    entropy = _values(facts, "entropy")
    rows = min(total.size, policy.size, value.size)
    if not facts.is_on_policy or rows < FEWEST_ROWS:
        return LossWeights()
    logged = entropy.size >= rows
    bonus = entropy[-rows:] if logged else np.full(rows, MOST_ENTROPY)
    rest, parts = total[-rows:] - policy[-rows:], np.column_stack([value[-rows:], -bonus])
    whole = np.isfinite(rest) & np.isfinite(parts).all(axis=1)
    if whole.sum() < FEWEST_ROWS:
        return LossWeights()
    found, errors, explained = _solved(parts[whole], rest[whole])
    heavy = float(found[1] - SURE * errors[1])
    # A bonus that is a small part of the total is lost in the noise of the others.
    counts = heavy * median(np.abs(parts[whole, 1])) > MATERIAL * median(np.abs(rest[whole]))
    return LossWeights(
        value=float(found[0]) if explained >= EXPLAINED and found[0] > SURE * errors[0] else None,
        entropy=heavy if heavy > 0.0 and counts else None,
    )


def _values(facts: RunFacts, name: str) -> FloatArray:
    series = facts.series(name)
    return series.values if series is not None else np.zeros(0)


def _solved(parts: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Weights, their standard errors and the explained share."""
    inverse = np.linalg.pinv(parts.T @ parts)
    found = inverse @ parts.T @ rest
    left = rest - parts @ found
    noise = float(left @ left) / max(rest.size - 2, 1)
    about = rest - rest.mean()
    explained = 1.0 - float(left @ left) / max(float(about @ about), 1e-30)
    return found, np.sqrt(np.maximum(noise * np.diag(inverse), 0.0)), explained
