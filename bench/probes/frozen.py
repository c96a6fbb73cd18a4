"""What the ladder was when the mutants from real fixes were written.

Those mutants were written against a ladder that was frozen, so that their score would not be circular. Cases that came
later and tolerances that became narrower are listed here; the page gives the score of both ladders.
"""

from __future__ import annotations

from rlclinic.probes.result import Answer, CaseResult

ADDED = frozenset({
    ("S0g", "vector"), ("P3", "rollout"), ("P5", "clip"), ("P5", "luck"), ("P6", "usual"), ("P8", "both"),
    ("P10", "limit"), ("P10", "evaluation"), ("P11", "normalised"), ("P12", "edge"), ("P13", "even"), ("P16", "frames"),
})  # fmt: skip
"""Code and name of each case that is younger than `bench/mutants/from_fixes`."""
WIDER = {("P15", "chain", "V(0)"): 0.35, ("P15", "chain", "V(4)"): 0.3}
"""Tolerances as they were then."""


def noticed(result: CaseResult) -> bool:
    """Would a case that fails now have failed then?"""
    if (result.code, result.case) in ADDED:
        return False
    changed = [answer for answer in result.answers if (result.code, result.case, answer.query.name) in WIDER]
    return not changed or any(_beyond(result, answer) for answer in result.answers)


def _beyond(result: CaseResult, answer: Answer) -> bool:
    tolerance = WIDER.get((result.code, result.case, answer.query.name), answer.query.tolerance)
    return answer.reading is not None and not abs(answer.reading - answer.query.truth) <= tolerance
