"""Gradients arrive, and no part of the network moves.

What it sees: The policy's entropy is one number in every row, the value loss does not fall and the critic explains
nothing, while gradients of an ordinary size are logged at an ordinary learning rate.
Why it hurts: Between the gradient and the weights the update is lost: clipped to nothing, multiplied by a zero rate, or
stepped by an optimiser that holds other tensors.
Evidence needed: entropy, value_loss, explained_variance, grad_norm and a return, with at least 6 points.
Looks alike: A policy that gets no gradient beside a critic that learns (policy-never-moves alone). A rate that is far
too small: there the logged rate says so.
What to change: Raise max_grad_norm to 0.5 or more; print the size of one optimiser step; compare the parameters that
the optimiser holds with those of the network.
References: Engstrom et al. 2020 (arXiv 2005.12729), on gradient clipping as part of the algorithm.
"""

from __future__ import annotations

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.rules.patient import Patient
from rlclinic.rules.policy.policy_never_moves import FEWEST_POINTS, is_frozen
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.stretch import finite

# Explained variance of a critic that has learned something.
EXPLAINS = 0.15
# Late over early value loss below which it fell.
FELL = 0.7
# A rate below which nothing is expected to move.
TINY_RATE = 1e-6
NO_GRADIENT = 1e-8


def check(patient: Patient) -> Sighting | None:
    """Ask whether the critic stands as still as the policy, and whether both had gradients."""
    gradient, explained = patient.level("grad_norm"), patient.late("explained_variance", 0.5)
    early, late = patient.early("value_loss", 0.25), patient.late("value_loss", 0.25)
    if gradient is None or explained is None or early is None or late is None or not is_frozen(patient):
        return None
    rate = patient.level("learning_rate")
    if gradient.points < FEWEST_POINTS or gradient.value <= NO_GRADIENT or explained.value > EXPLAINS:
        return None
    if late.value < FELL * early.value or (rate is not None and rate.value < TINY_RATE):
        return None
    _, entropies = finite(patient.run.series["entropy"])
    summary = (
        f"gradients of {gradient.value:.3g} arrive, but the entropy is {entropies[0]:.6g} throughout and the value "
        f"loss went from {early.value:.4g} to {late.value:.4g}"
    )
    evidence = (
        patient.evidence("entropy", float(np.ptp(entropies)), 0.0, note="largest minus smallest"),
        patient.evidence("value_loss", late.value, FELL * early.value, level=late, note="median of the last quarter"),
        patient.evidence("grad_norm", gradient.value, NO_GRADIENT, note="median"),
    )
    return Sighting(Severity.ERROR, 0.85, summary, evidence, None)
