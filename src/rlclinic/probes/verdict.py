"""The two-stage verdict over seeds, and how often it is wrong.

Eight seeds: at least seven right pass, at most four fail, anything between runs eight more and needs thirteen of
sixteen. The verdict is given as soon as it is certain, so a clear pass takes seven seeds and a clear fail four. The
preflight stops at two right seeds without a wrong one; a wrong one brings the full rule.
"""

from __future__ import annotations

from math import comb
from typing import Literal, TypeAlias

FIRST, PASSES, FAILS = 8, 7, 4
BOTH, BOTH_PASS = 16, 13
QUICK = 2

Decision: TypeAlias = Literal["pass", "fail"]


def decide(right: int, wrong: int, *, quick: bool = False, exact: bool = False) -> Decision | None:
    """The verdict after so many seeds; None as long as it is open."""
    if exact:
        return None if right + wrong == 0 else ("fail" if wrong else "pass")
    if quick and not wrong and right >= QUICK:
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
    if quick and not wrong:
        return QUICK - right
    if right + wrong < FIRST:
        return min(PASSES - right, FIRST - FAILS - wrong)
    return min(BOTH_PASS - right, BOTH - BOTH_PASS + 1 - wrong)


def failing_chance(reliability: float) -> float:
    """The chance that a trainer whose seeds are each right with this probability fails a probe."""

    def exactly(right: int, of: int) -> float:
        return comb(of, right) * reliability**right * (1 - reliability) ** (of - right)

    chance = sum(exactly(right, FIRST) for right in range(FAILS + 1))
    for right in range(FAILS + 1, PASSES):
        chance += exactly(right, FIRST) * sum(exactly(more, BOTH - FIRST) for more in range(BOTH_PASS - right))
    return chance
