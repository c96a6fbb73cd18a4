"""The two-stage verdict over seeds, and how often it is wrong.

Eight seeds: at least seven right pass, at most four fail, anything between runs eight more and needs thirteen of
sixteen. The verdict is given as soon as it is certain, and five right seeds without a wrong one pass at once: seeds
that agree cost no more. The preflight stops at two right seeds without a wrong one; a wrong one brings the full rule.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

FIRST, PASSES, FAILS = 8, 7, 4
BOTH, BOTH_PASS = 16, 13
AGREE = 5
"""Right seeds without a wrong one that pass at once. A trainer whose seeds are right every second time gets by one time
in 18 instead of one in 25; with four it would be one in twelve."""
QUICK = 2

Decision: TypeAlias = Literal["pass", "fail"]


def decide(right: int, wrong: int, *, quick: bool = False, exact: bool = False) -> Decision | None:
    """The verdict after so many seeds; None as long as it is open."""
    if exact:
        return None if right + wrong == 0 else ("fail" if wrong else "pass")
    if not wrong and right >= (QUICK if quick else AGREE):
        return "pass"
    if right + wrong <= FIRST:
        if right >= PASSES:
            return "pass"
        return "fail" if wrong >= FIRST - FAILS else None
    if right >= BOTH_PASS:
        return "pass"
    return "fail" if wrong > BOTH - BOTH_PASS else None


def most_seeds_needed(right: int, wrong: int, *, quick: bool = False, exact: bool = False) -> int:
    """How many further seeds may be started at once without any of them being in vain."""
    if decide(right, wrong, quick=quick, exact=exact) is not None:
        return 0
    if exact:
        return 1
    if not wrong:
        return min((QUICK if quick else AGREE) - right, FIRST - FAILS)
    if right + wrong < FIRST:
        return min(PASSES - right, FIRST - FAILS - wrong)
    return min(BOTH_PASS - right, BOTH - BOTH_PASS + 1 - wrong)


def failing_chance(reliability: float, *, quick: bool = False) -> float:
    """The chance that a trainer whose seeds are each right with this probability fails a probe."""

    @cache
    def after(right: int, wrong: int) -> float:
        verdict = decide(right, wrong, quick=quick)
        if verdict is not None:
            return float(verdict == "fail")
        return reliability * after(right + 1, wrong) + (1 - reliability) * after(right, wrong + 1)

    return after(0, 0)
