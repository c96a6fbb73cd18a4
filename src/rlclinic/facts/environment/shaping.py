"""Whether a shaping term is the difference of a potential, and with which gamma (Ng, Harada, Russell 1999).

F = gamma * phi(s') - phi(s) with phi = 0 at a termination, so over any stretch of steps the discounted sum of F depends
on its ends alone. For each gamma the potential that comes nearest is fitted to sums over stretches, and what is left of
them on episodes left out is told relative to how the sums vary.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.environment.observations import FEWEST, can_be_fitted, depths, sound
from rlclinic.facts.environment.regression import Basis, encoded, even, fit
from rlclinic.model.environment_facts import NOT_MEASURED, Shaping
from rlclinic.model.transitions import Transitions

WORDS = ("shap", "potential", "pbrs")
"""In the names of components that shape."""
GAMMAS = (0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0)
STRETCH = 10
"""Steps of a stretch: of single steps only the slope of a potential is seen."""
CLEARER = 1.3
"""How much less the best gamma must leave than any other to be told."""


def shaping_facts(steps: Transitions) -> Shaping | None:
    """The first component that is called a shaping term, tried as a difference of a potential."""
    name = next((name for name in steps.components if any(word in name.lower() for word in WORDS)), None)
    if name is None or not can_be_fitted(steps):
        return None
    paid, whole = steps.components[name], sound(steps)
    lasts = np.flatnonzero(depths(steps) >= STRETCH - 1)
    # Each row ends a stretch, all of which is known.
    stretches = even(lasts)[:, None] + np.arange(1 - STRETCH, 1)[None, :]
    stretches = stretches[(whole[stretches] & np.isfinite(paid[stretches])).all(axis=1)]
    # A constant pay is the difference of a constant potential: what varies must be explained.
    if len(stretches) < FEWEST or not np.ptp(paid[stretches]) > 1e-6 * np.abs(paid[stretches]).max():
        return None
    first, last = stretches[:, 0], stretches[:, -1]
    start = encoded(steps.observation_space, steps.observations)[first]
    end = encoded(steps.observation_space, steps.next_observations)[last]
    basis = Basis(np.concatenate([start, end]))
    here, there = basis(start), basis(end) * ~steps.terminated[last, None]
    out = np.unique(steps.episodes[first], return_inverse=True)[1] % 2 == 1
    if not out.any() or out.all():
        out = np.arange(len(first)) >= len(first) // 2
    left = {}
    for gamma in GAMMAS:
        sums = paid[stretches] @ gamma ** np.arange(STRETCH)
        features = gamma**STRETCH * there - here
        weights = fit(features[~out], sums[~out, None])
        varies = np.linalg.norm(sums[out] - sums[out].mean())
        left[gamma] = float(np.linalg.norm(sums[out] - (features[out] @ weights)[:, 0]) / varies)
    best, second = sorted(left, key=lambda gamma: left[gamma])[:2]
    return Shaping(name, left[best], best if left[second] > CLEARER * left[best] else NOT_MEASURED)
