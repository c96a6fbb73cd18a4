"""The policy is the same from the first update to the last.

What it sees: The entropy of the policy is one number, to the last digit, in every row, while the value loss goes on
changing and the return does not improve.
Why it hurts: Updates are made and the policy gets none of them: its parameters are not in the optimiser, its loss is
detached, its gradient is masked, or its rate is zero.
Evidence needed: entropy and value_loss with at least 10 points, entropy not rounded to a few digits; a return.
Looks alike: A Gaussian policy with a fixed spread, whose entropy is constant although its mean learns: there the return
moves. A rate that is far too small moves the entropy in its last digits (kl-vanishes).
What to change: Compare the policy's weights before and after one update. If they are equal, look at what the optimiser
holds, at `detach` and `no_grad`, and at the sign and the mask of the policy loss.
References: Probe P5 and the static contract of gradient flow (S0c).
"""

from __future__ import annotations

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.rules.patient import Patient
from rlclinic.rules.return_state import suffers
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.stretch import finite

# A few roundings of a 32-bit float, as a share of the level.
ROUNDING = 2e-6
FEWEST_POINTS = 10


def check(patient: Patient) -> Sighting | None:
    """Compare the largest and the smallest entropy."""
    entropy, loss = patient.series("entropy"), patient.series("value_loss")
    if entropy is None or loss is None or entropy.decimals is not None or not suffers(patient):
        return None
    _, values = finite(entropy)
    _, losses = finite(loss)
    if values.size < FEWEST_POINTS or losses.size < FEWEST_POINTS or np.ptp(losses) == 0.0:
        return None
    span, level = float(np.ptp(values)), float(np.abs(values).max())
    if level == 0.0 or span > ROUNDING * level:
        return None
    summary = f"{entropy.logged_as} is {values[0]:.6g} in all {values.size} rows while the value loss goes on changing"
    evidence = (patient.evidence("entropy", span, ROUNDING * level, note="largest minus smallest"),)
    return Sighting(Severity.ERROR, 0.85, summary, evidence, None)
