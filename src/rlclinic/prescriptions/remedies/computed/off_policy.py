"""Learning from a buffer: when it begins, how much is kept, and how fast the target network follows."""

from __future__ import annotations

from rlclinic.prescriptions.assessment import Assessment
from rlclinic.prescriptions.remedies.careful_step import stepped
from rlclinic.prescriptions.setting_change import Changes, change_to

# Share of the budget that may pass before learning, and the fewest batches that the buffer should hold then.
LATEST = 0.02
BATCHES = 10
DEFAULT_BATCH = 64
# Transitions that suffice wherever nothing else is known (Mnih et al. 2015; defaults of SB3, CleanRL, RLlib's SAC).
USUAL_BUFFER = 1_000_000
# Without a reference for Q-learning: copies of the target every so many env steps.
INTERVAL = "target_update_interval"
USUAL_INTERVAL = 500
# A copy must happen many times within the budget to teach anything.
FEWEST_COPIES = 100


def earlier_start(assessment: Assessment) -> Changes:
    """The reference start, at most a fiftieth of the budget, never before ten batches are there."""
    here, fewest = assessment.number("learning_starts"), _fewest_samples(assessment)
    known = assessment.entry_number("learning_starts")
    wanted = fewest if known is None else known
    if assessment.budget:
        latest = LATEST * assessment.budget
        wanted = min(max(wanted, min(fewest, latest)), max(latest, 1))
    return change_to("learning_starts", max(1, round(wanted))) if here is None or wanted < here else ()


def later_start(assessment: Assessment) -> Changes:
    """The reference start, at least ten batches."""
    here = assessment.number("learning_starts")
    known = assessment.entry_number("learning_starts")
    wanted = max(_fewest_samples(assessment), known or 0.0)
    return change_to("learning_starts", round(wanted)) if here is not None and wanted > here else ()


def larger_buffer(assessment: Assessment) -> Changes:
    """The reference size, or the whole run where that is smaller."""
    size = assessment.number("buffer_size")
    wanted = assessment.reference_number("buffer_size") or USUAL_BUFFER
    if assessment.budget:
        wanted = min(wanted, assessment.budget)
    return change_to("buffer_size", round(wanted)) if size is None or wanted > size else ()


def double_q(assessment: Assessment) -> Changes:
    """Choose the next action by the online network, value it by the target network (van Hasselt et al. 2016)."""
    return change_to("double_q", True) if assessment.run.config.get("double_q") is False else ()


def slower_target(assessment: Assessment) -> Changes:
    """A smaller tau, or copies further apart."""
    tau, interval = assessment.number("tau"), assessment.number(INTERVAL)
    if _copies(assessment):
        if tau is not None and interval is not None and interval <= 1:
            # Copying at every update is no target network at all.
            known = assessment.reference_number(INTERVAL)
            return change_to(INTERVAL, round(known if known and known > 1 else USUAL_INTERVAL))
        after = stepped(assessment, INTERVAL, up=True)
        return change_to(INTERVAL, round(after)) if after and after > (interval or 0) else ()
    after = stepped(assessment, "tau", up=False)
    return change_to("tau", after) if after and tau is not None and after < tau else ()


def faster_target(assessment: Assessment) -> Changes:
    """A larger tau, or copies closer together."""
    tau, interval = assessment.number("tau"), assessment.number(INTERVAL)
    if _copies(assessment):
        after = stepped(assessment, INTERVAL, up=False)
        if after is not None and assessment.budget:
            after = min(after, max(1.0, assessment.budget / FEWEST_COPIES))
        return change_to(INTERVAL, round(after)) if after and interval and after < interval else ()
    after = stepped(assessment, "tau", up=True)
    return change_to("tau", min(after, 1.0)) if after and tau is not None and after > tau else ()


def _fewest_samples(assessment: Assessment) -> float:
    return BATCHES * (assessment.number("batch_size") or DEFAULT_BATCH)


def _copies(assessment: Assessment) -> bool:
    """Whether the target is copied in whole; soft updates have tau below 1."""
    tau = assessment.number("tau")
    return "q-learning" in assessment.families and (tau is None or tau >= 1.0)
