"""The policy was destroyed by large updates and has been calm since.

What it sees: KL (or the gradient norm) was high once; since then KL and entropy are near zero, and the return is
below its start. Or the entropy is near zero in the first row already, beside a return that is poor: a new policy is
near uniform, so that only the updates before that row can have made it deterministic.
Why it hurts: A deterministic policy gives no gradient, so it cannot come back. All metrics look calm because nothing
moves any more, which is easily taken for a learning rate that is too low.
Evidence needed: entropy, and approx_kl or grad_norm, with at least 12 points each, and a return.
Looks alike: A converged policy: calm and deterministic as well, but with a good return. A policy that never moved: KL
was never high, and its entropy is still high. A resumed run begins deterministic, but with a good return.
What to change: Start again with a learning rate lower by a factor of 10, fewer epochs per batch or a target KL.
Resuming from the last checkpoint cannot help; one from before the burst may.
References: Schulman et al. 2017 (arXiv 1707.06347); Ahmed et al. 2019 (arXiv 1811.11214).
"""

from __future__ import annotations

import numpy as np

from rlclinic.model.finding import Severity
from rlclinic.rules.goal import goal_of
from rlclinic.rules.outcome import Outcome
from rlclinic.rules.patient import Level, Patient
from rlclinic.rules.policy._entropy import ceiling, dead_from_start, is_density
from rlclinic.rules.return_state import ended_below_start, return_name
from rlclinic.rules.sighting import Sighting
from rlclinic.rules.standing import failed
from rlclinic.rules.stretch import finite, lasting_from, moving_median, rounding

# Share of the greatest entropy below which a policy is as good as deterministic.
DEAD = 0.05
# Nats per update that count as a burst, and as calm.
BURST_KL = 0.05
CALM_KL = 2e-3
# Highest over late level of the gradient norm, where KL is not logged.
BURST_GRADIENT = 30.0
# Share of the run at its end that must be calm.
END = 0.15
WIDTH = 3
MIN_POINTS = 12


def check(patient: Patient) -> Sighting | None:
    """Look for the burst before the calm."""
    entropy, outcome, top = patient.series("entropy"), patient.outcome, ceiling(patient)
    late = patient.late("entropy", END)
    if entropy is None or outcome is None or top is None or late is None or patient.is_language_model:
        return None
    steps, values = finite(entropy)
    if values.size < MIN_POINTS or top <= 0.0 or is_density(patient) or late.value > DEAD * top:
        return None
    if dead_from_start(patient):
        return _dead_at_once(patient, outcome, late, top)
    if not ended_below_start(patient):
        return None
    burst = _burst_of_kl(patient) or _burst_of_gradients(patient)
    if burst is None:
        return None
    name, highest, bar, calm = burst
    summary = (
        f"{name} reached {highest:.3g} and is {calm.value:.2g} now, entropy is {late.value:.2g} of {top:.3g}, and the "
        f"return went from {outcome.start:.4g} (best {outcome.peak:.4g}) to {outcome.end:.4g}: the policy is dead"
    )
    evidence = (
        patient.evidence(name, highest, bar, note="highest value"),
        patient.evidence(name, calm.value, level=calm, note="median of the end"),
        patient.evidence(
            "entropy", late.value / top, DEAD, level=late, note="share of the greatest entropy at the end"
        ),
        patient.evidence(return_name(patient), outcome.gain, -2 * outcome.scale, note="gain from start to end"),
    )
    return Sighting(Severity.ERROR, 0.9, summary, evidence, lasting_from(steps, values <= DEAD * top))


def _dead_at_once(patient: Patient, outcome: Outcome, late: Level, top: float) -> Sighting | None:
    """The burst came before the first row; what is left of it is a policy that no longer chooses."""
    if not ended_below_start(patient) and (goal_of(patient) is None or not failed(patient)):
        return None
    steps, values = finite(patient.run.series["entropy"])
    summary = (
        f"entropy is {values[0]:.2g} of {top:.3g} in the first row already and {late.value:.2g} at the end, and the "
        f"return went from {outcome.start:.4g} to {outcome.end:.4g}: the first updates left a dead policy"
    )
    evidence = (
        patient.evidence("entropy", float(values.max()) / top, DEAD, note="share of the greatest entropy, at most"),
        patient.evidence(return_name(patient), outcome.gain, note="gain from start to end"),
    )
    return Sighting(Severity.ERROR, 0.8, summary, evidence, float(steps[0]))


def _burst_of_kl(patient: Patient) -> tuple[str, float, float, Level] | None:
    kl, calm = patient.series("approx_kl"), patient.late("approx_kl", END)
    if kl is None or calm is None:
        return None
    _, values = finite(kl)
    if values.size < MIN_POINTS or max(abs(calm.value), rounding(kl)) > CALM_KL:
        return None
    highest = float(values.max())
    return ("approx_kl", highest, BURST_KL, calm) if highest >= BURST_KL else None


def _burst_of_gradients(patient: Patient) -> tuple[str, float, float, Level] | None:
    norm, calm = patient.series("grad_norm"), patient.late("grad_norm", END)
    if norm is None or calm is None or patient.series("approx_kl") is not None:
        return None
    _, values = finite(norm)
    if values.size < MIN_POINTS:
        return None
    highest = float(np.max(moving_median(values, WIDTH)))
    bar = BURST_GRADIENT * calm.value
    return ("grad_norm", highest, bar, calm) if highest > max(bar, 0.0) else None
