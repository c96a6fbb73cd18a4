"""The critic as rules judge it: explained variance beside the spread of returns that the value loss implies.

With an error variance of (1 - EV) * Var(returns), the value loss tells the variance of the targets: loss / (1 - EV). A
framework may halve the loss; that changes the scale by a factor of 1.4 and no ratio within a run.
"""

from __future__ import annotations

import math

import numpy as np

from rlclinic.facts.run_facts import RunFacts, fact
from rlclinic.facts.stretch import finite
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray
from rlclinic.signals._robust import median, quantile

# Share of the run's upper quartile of the targets' variance below which explained variance compares noise with noise.
STILL = 0.005
# Range of the logged return, as a share of its level, below which all episodes ended alike.
ALIKE = 0.005
# Unexplained share of the variance that counts at least: explained variance is printed with few digits.
LEAST_UNEXPLAINED = 1e-3
# Points below which a window says nothing.
FEWEST = 3


@dataclass(frozen=True, slots=True)
class Critic:
    """Explained variance, value loss and the implied variance of the targets at the same steps."""

    steps: FloatArray
    explained: FloatArray
    loss: FloatArray
    variance: FloatArray
    usual: float
    """Upper quartile of the variance over the run."""

    def window(self, start: float, end: float) -> slice:
        """Points of a stretch, given as shares of all points."""
        return slice(int(start * self.steps.size), max(int(start * self.steps.size) + 1, int(end * self.steps.size)))

    def left(self, start: float, end: float) -> float:
        """Variance of a stretch as a share of the usual one; 0 where there never was any."""
        now = median(self.variance[self.window(start, end)])
        return now / self.usual if self.usual > 0.0 else 0.0


@fact
def critic_of(facts: RunFacts) -> Critic | None:
    """Both series on the steps of the explained variance; None where either is missing."""
    explained, loss = facts.series("explained_variance"), facts.series("value_loss")
    if explained is None or loss is None or explained.axis != loss.axis:
        return None
    steps, values = finite(explained)
    loss_steps, loss_values = finite(loss)
    # A loss of nothing but zeros was not written down; it implies no variance.
    if steps.size < FEWEST or loss_steps.size < FEWEST or not loss_values.any():
        return None
    at = loss_values if np.array_equal(steps, loss_steps) else np.interp(steps, loss_steps, loss_values)
    at = np.maximum(at, 0.0)
    variance = at / np.maximum(1.0 - values, LEAST_UNEXPLAINED)
    return Critic(steps, values, at, variance, quantile(variance, 0.75))


def has_critic(facts: RunFacts) -> bool:
    """Whether a critic is trained: not where it is switched off, or where only zeros are logged for its fit."""
    if facts.run.config.get("baseline") is False:
        return False
    explained, loss = facts.series("explained_variance"), facts.series("value_loss")
    return loss is not None or (explained is not None and bool(finite(explained)[1].any()))


def returns_vary(facts: RunFacts, start: float = 0.0, end: float = 1.0) -> bool:
    """Whether returns differ in a stretch, so that explaining their variance means something."""
    critic = critic_of(facts)
    if critic is not None and critic.left(start, end) < STILL:
        return False
    returns = facts.run.returns
    if returns is None:
        return True
    _, values = finite(returns)
    part = values[int(start * values.size) : max(int(start * values.size) + 1, int(end * values.size))]
    if part.size < FEWEST:
        return True
    return float(np.ptp(part)) > ALIKE * median(np.abs(part))


def target_scale(facts: RunFacts, start: float = 0.0, end: float = 1.0) -> float | None:
    """Standard deviation of the value targets that loss and explained variance imply, in units of the reward."""
    critic = critic_of(facts)
    if critic is None:
        return None
    return math.sqrt(median(critic.variance[critic.window(start, end)]))
