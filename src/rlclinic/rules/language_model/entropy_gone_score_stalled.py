"""Entropy is nearly gone and the score has stopped, or never started, to rise.

What it sees: Entropy fell to a small part of its start while neither score nor validation rises and there is room
above.
Why it hurts: With hardly any variety the responses of a group are alike; the groups are tied and nothing new is found.
Evidence needed: entropy and the score with at least 12 points each.
Looks alike: Convergence: in healthy runs entropy falls by 60 to 90 percent while the score rises.
What to change: Raise the upper clip (0.28 with 0.2 below), sample at temperature 1, filter tied groups, lower the
learning rate; an entropy bonus last.
References: Cui et al. 2025 (arXiv 2505.22617); Yu et al. 2025 (DAPO, arXiv 2503.14476).
"""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.rules.language_model._score import change, is_near_ceiling, is_progressing, told, training
from rlclinic.rules.patient import Patient
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.stretch import finite, lasting_from, rounding

# Late over early entropy: less than what healthy runs keep.
NEARLY_GONE = 0.1


def check(patient: Patient) -> Sighting | None:
    """Compare the fall of entropy with the score."""
    series, levels = patient.series("entropy"), change(patient, "entropy")
    if not patient.is_language_model or series is None or levels is None or training(patient) is None:
        return None
    early, late = levels
    if early.value <= max(0.0, 20 * rounding(series)) or late.value > NEARLY_GONE * early.value:
        return None
    if is_progressing(patient) or is_near_ceiling(patient):
        return None
    share = late.value / early.value
    fall = f"from {early.value:.3g} to {late.value:.3g} ({100 * share:.2g} % of its start)"
    summary = f"entropy fell {fall} while {told(patient)}"
    evidence = (patient.evidence("entropy", share, NEARLY_GONE, level=late, note="late over early entropy"),)
    steps, values = finite(series)
    return Sighting(Severity.WARNING, 0.75, summary, evidence, lasting_from(steps, values <= NEARLY_GONE * early.value))
