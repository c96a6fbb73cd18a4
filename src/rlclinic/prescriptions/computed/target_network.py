"""How fast the target network follows: by soft updates (tau) or by copies (an interval)."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.target import stepped
from rlclinic.prescriptions.turn import Turn

# Without a reference for Q-learning: copies every so many env steps.
USUAL_INTERVAL = 500


def slower_target(case: Case) -> tuple[Turn, ...]:
    """A smaller tau, or copies further apart."""
    tau, interval = case.number("tau"), case.number("target_update_interval")
    if _copies(case):
        if tau is not None and interval is not None and interval <= 1:
            # Copying at every update is no target network at all.
            known = case.reference_number("target_update_interval")
            return (Turn("target_update_interval", round(known if known and known > 1 else USUAL_INTERVAL)),)
        after = stepped(case, "target_update_interval", up=True)
        return (Turn("target_update_interval", round(after)),) if after and after > (interval or 0) else ()
    after = stepped(case, "tau", up=False)
    return (Turn("tau", after),) if after and tau is not None and after < tau else ()


def faster_target(case: Case) -> tuple[Turn, ...]:
    """A larger tau, or copies closer together."""
    tau, interval = case.number("tau"), case.number("target_update_interval")
    if _copies(case):
        after = stepped(case, "target_update_interval", up=False)
        if after is not None and case.budget:
            # A copy must happen many times within the budget to teach anything.
            after = min(after, max(1.0, case.budget / 100))
        return (Turn("target_update_interval", round(after)),) if after and interval and after < interval else ()
    after = stepped(case, "tau", up=True)
    return (Turn("tau", min(after, 1.0)),) if after and tau is not None and after > tau else ()


def _copies(case: Case) -> bool:
    """Whether the target is copied in whole; soft updates have tau below 1."""
    tau = case.number("tau")
    return "q-learning" in case.families and (tau is None or tau >= 1.0)
