"""Each gradient step sees only a few samples.

What it sees: Fewer than 16 samples per gradient step.
Why it hurts: The direction of a step is mostly noise, and advantages normalised over so few samples are noise as
well.
Evidence needed: batch_size in the config (or rollout and minibatches).
Looks alike: Small tasks learn with tiny batches: without a poor return it is a note. A2C with one environment uses
its whole rollout of 5 samples by design. Prompts or groups of language models are not samples.
What to change: At least 32 to 64 samples per step, or a learning rate that is lower by the same factor.
References: McCandlish et al. 2018 (arXiv 1812.06162) on the noise scale of gradients.
"""

from __future__ import annotations

from rlclinic.model.finding import Severity
from rlclinic.rules.patient import Patient
from rlclinic.rules.setting import positive, setting_evidence
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.standing import failed
from rlclinic.rules.update_count import batch

# Samples per gradient step.
TINY = 16.0


def check(patient: Patient) -> Sighting | None:
    """Look at the samples per gradient step."""
    if patient.is_language_model:
        return None
    size = batch(patient) if patient.is_on_policy else positive(patient, "batch_size")
    if size is None or size >= TINY:
        return None
    bad = failed(patient)
    summary = f"each gradient step sees {size:.3g} samples"
    key = "batch_size" if "batch_size" in patient.run.config else "rollout_size"
    evidence = (setting_evidence(patient, key, size, TINY, note="samples per gradient step"),)
    return Sighting(Severity.WARNING if bad else Severity.INFO, 0.45 if bad else 0.3, summary, evidence)
