"""Entropy runs away upwards, with length, while the score falls.

What it sees: Entropy is well above its early level, responses do not get shorter, and the score falls.
Why it hurts: The model has lost its language: it samples ever more unlikely tokens until the cap.
Evidence needed: entropy and the score with at least 12 points; response_length where logged.
Looks alike: A mild rise of entropy in a model that was fine-tuned to be too sure, with a score that rises.
What to change: Lower the upper clip or the learning rate, mask overlong responses, drop the entropy bonus, add a KL to
the reference; check that sampler and trainer agree on probabilities.
References: rllm-org/rllm#116; verl-project/verl#1066, #2738.
"""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.rules.language_model._score import change, is_falling, told
from rlclinic.rules.patient import Patient
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.stretch import finite, lasting_from

# Late over early entropy.
GREW = 1.5
# Late over early length below which the model shrinks rather than rambles.
NOT_SHORTER = 0.9


def check(patient: Patient) -> Sighting | None:
    """Compare entropy and length with the score."""
    series, levels = patient.series("entropy"), change(patient, "entropy")
    if not patient.is_language_model or series is None or levels is None or not is_falling(patient):
        return None
    early, late = levels
    if early.value <= 0 or late.value < GREW * early.value:
        return None
    lengths = change(patient, "response_length")
    if lengths is not None and lengths[1].value < NOT_SHORTER * lengths[0].value:
        return None
    longer = f" and length from {lengths[0].value:.4g} to {lengths[1].value:.4g} tokens" if lengths is not None else ""
    summary = f"entropy rose from {early.value:.3g} to {late.value:.3g}{longer} while {told(patient)}"
    evidence = [
        patient.evidence("entropy", late.value / early.value, GREW, level=late, note="late over early entropy"),
    ]
    if lengths is not None:
        ratio = lengths[1].value / max(lengths[0].value, 1e-12)
        evidence.append(patient.evidence("response_length", ratio, NOT_SHORTER, note="late over early length"))
    steps, values = finite(series)
    onset = lasting_from(steps, values >= GREW * early.value)
    return Sighting(Severity.WARNING, 0.8, summary, tuple(evidence), onset)
