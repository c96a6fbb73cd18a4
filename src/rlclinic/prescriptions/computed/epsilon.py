"""How long epsilon falls and where it ends."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.turn import Turn

# Where nothing else is known: the defaults of CleanRL's DQN, which explores for half of the run.
FRACTION, FINAL = 0.5, 0.05
STEP = 3.0
# Above this share of random actions a policy cannot show what it knows.
HIGH_FINAL = 0.1


def longer_exploration(case: Case) -> tuple[Turn, ...]:
    """Three times as long, at most half of the run; never shorter than the reference for this environment."""
    turns: list[Turn] = []
    steps, budget = case.number("exploration_steps"), case.budget
    if steps is not None and budget:
        turns.append(Turn("exploration_steps", round(min(FRACTION * budget, max(STEP * steps, 0.1 * budget)))))
    else:
        here = case.number("exploration_fraction") or 0.0
        known = case.reference_number("exploration_fraction") if case.has_entry else None
        wanted = max(known or 0.0, min(FRACTION, STEP * here if here else 0.1))
        if wanted > here:
            turns.append(Turn("exploration_fraction", round(wanted, 3)))
    start = case.number("exploration_initial")
    if start is not None and start < 1.0:
        turns.append(Turn("exploration_initial", 1.0))
    return tuple(turns)


def exploration_that_ends(case: Case) -> tuple[Turn, ...]:
    """The reference end value and length, where the run's own are higher."""
    turns: list[Turn] = []
    final, fraction = case.number("exploration_final"), case.number("exploration_fraction")
    known = case.reference_number("exploration_final") or FINAL
    if final is None or final > max(known, HIGH_FINAL):
        turns.append(Turn("exploration_final", known))
    longest = case.reference_number("exploration_fraction") or FRACTION
    if fraction is not None and fraction > max(longest, FRACTION):
        turns.append(Turn("exploration_fraction", longest))
    steps, budget = case.number("exploration_steps"), case.budget
    if steps is not None and budget and steps > FRACTION * budget:
        turns.append(Turn("exploration_steps", round(FRACTION * budget)))
    return tuple(turns)
