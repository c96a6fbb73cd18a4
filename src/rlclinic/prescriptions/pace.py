"""What lets a run learn faster in the same number of env steps, where its goal was missed with the whole budget.

No fault is claimed: the run's own numbers show that its updates have room. On policy that is the KL of an update, which
grows with the square of the learning rate; off policy it is the number of gradient steps that each sample is used for.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.update_count import updates_per_step
from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.push import Push
from rlclinic.prescriptions.target import COARSE, HEALTHY_KL
from rlclinic.rules.rule import Sign

# A step of three in the rate makes nine times the KL: with this much room it stays below that of a healthy update.
ROOM = COARSE**2
# Families that use a sample many times.
REPLAYS = frozenset({"q-learning", "continuous-q"})
# Gradient steps per env step up to which plain off-policy algorithms gain by more; beyond, the critic overfits unless
# it is an ensemble or is reset (Nikishin et al. 2022, arXiv 2205.07802).
MOST_PER_STEP = 4.0


def faster(case: Case) -> list[Push]:
    """Steps that would make the run learn faster, the one with the best reason first; none for a run that did well."""
    if not case.standing.short or case.is_language_model:
        return []
    if case.is_on_policy:
        return _on_policy(case)
    return _off_policy(case) if case.families & REPLAYS else []


def _on_policy(case: Case) -> list[Push]:
    if case.shows(Sign.POLICY_TOO_FAST):
        return []
    found = []
    if case.saw("few-updates-in-budget"):
        found.append(Push("too-few-updates", f"{_missed(case)} with few gradient steps in its budget."))
    moved = _usual_kl(case)
    if moved is not None and moved * ROOM <= HEALTHY_KL:
        room = f"an update moves the policy by a KL of {moved:.2g}, healthy ones by up to {HEALTHY_KL}"
        why = f"{_missed(case)}, and its updates have room: {room}. Larger ones learn faster in the same steps."
        found += [Push("learning-rate-too-low", why), Push("too-few-updates", why)]
    return found


def _off_policy(case: Case) -> list[Push]:
    ratio = updates_per_step(case.facts)
    if case.shows(Sign.CRITIC_DIVERGES) or ratio is None or ratio * 2.0 > MOST_PER_STEP:
        return []
    why = (
        f"{_missed(case)}, and it makes {ratio:.2g} gradient steps per env step: more of them learn more from the same "
        "samples."
    )
    return [Push("too-few-updates", why)]


def _missed(case: Case) -> str:
    goal = case.run.threshold
    told = "The goal" if goal is None else f"The goal of {goal:.4g}"
    return f"{told} was missed with the whole budget"


def _usual_kl(case: Case) -> float | None:
    """The middle of the logged KLs; None where all are 0: that of one step per rollout is measured before it."""
    series = case.run.series.get("approx_kl")
    if series is None:
        return None
    sizes = np.abs(series.values[np.isfinite(series.values)])
    usual = float(np.median(sizes)) if sizes.size else 0.0
    return usual if usual > 0.0 else None
