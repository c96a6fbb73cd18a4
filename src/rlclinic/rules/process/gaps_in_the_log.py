"""Logging stopped for long stretches, or the run was resumed.

What it sees: A pause between two logged points that is far longer than all others and a material part of the run's
time; or steps that go back, as after a resume from a checkpoint.
Why it hurts: After a resume the optimiser, the normaliser, the replay buffer or the step counter may be lost; after
a pause (a machine that slept, a queue that was preempted) times and speeds do not compare.
Evidence needed: wall times of the points, or a reader's note on a resume.
Looks alike: Evaluations or checkpoints that take minutes, at regular intervals.
What to change: Look at the curves right after the gap. If the return or the losses jump there, the resume lost
something.
References: none needed.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult
from rlclinic.rules.words import steps_text
from rlclinic.signals._robust import median

RULE = Rule("PRC07")


class Limits(RuleLimits):
    fewest_points: int = 20
    far_longer: float = 10.0
    """Times the usual longest interval (95th percentile), seconds, and share of the run's duration."""
    long_seconds: float = 300.0
    material: float = 0.05


LIMITS = Limits()
# Words of a reader's note on a resumed run.
RESUMED = "a resumed run"


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for the longest pause, then for a note on a resume."""
    series = _timed(facts, limits)
    pause = _pause(facts, series, limits) if series is not None else None
    if pause is not None:
        return pause
    note = next((note for note in facts.run.provenance.notes if RESUMED in note), None)
    if note is None:
        return None
    evidence = (facts.evidence("steps", facts.run.steps, note="last step"),)
    return RuleResult(Severity.INFO, 0.8, note, evidence)


def _timed(facts: RunFacts, limits: Limits) -> Series | None:
    """The longest series that has wall times."""
    timed = [series for series in facts.run.series.values() if series.wall_times is not None]
    longest = max(timed, key=len, default=None)
    return longest if longest is not None and len(longest) >= limits.fewest_points else None


def _pause(facts: RunFacts, series: Series, limits: Limits) -> RuleResult | None:
    times = series.wall_times
    if times is None or not np.isfinite(times).all():
        return None
    intervals = np.diff(times)
    longest, total = float(intervals.max()), float(times[-1] - times[0])
    bar = max(limits.far_longer * float(np.percentile(intervals, 95)), limits.long_seconds, limits.material * total)
    if longest < bar:
        return None
    where = int(intervals.argmax())
    step = float(series.steps[where])
    summary = (
        f"nothing was logged for {longest / 60:.0f} minutes after {steps_text(facts, step)}; "
        f"the usual interval is {median(intervals):.2g} seconds"
    )
    evidence = (facts.evidence(series.name, longest, bar, note="longest pause in seconds"),)
    return RuleResult(Severity.INFO, 0.8, summary, evidence, step)
