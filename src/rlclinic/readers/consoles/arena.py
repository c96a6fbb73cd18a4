"""The console of AlphaZero General and its descendants: each iteration the new network plays the one before it.

INFO Starting Iter #3 ...
INFO NEW/PREV WINS : 23 / 12 ; DRAWS : 5
INFO ACCEPTING NEW MODEL

A share of games won against a moving opponent tells no progress. What adds up is the rating: by how much the network
that is kept beats the first one, in points of Elo.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows

# Points of Elo for odds of ten to one.
ELO = 400.0
# Games that are added to either side: a match that was won whole has no odds.
PRIOR = 0.5

WINS = "NEW/PREV WINS"
_MATCH = re.compile(rf".{{0,200}}?{WINS}\s?:\s?(\d{{1,9}})\s?/\s?(\d{{1,9}})(?:\s?;\s?DRAWS\s?:\s?(\d{{1,9}}))?")
_REJECTED = re.compile(r"\b(?:REJECTING|REJECTED|Discard)\b")


def parse_arena(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """One row for each match; empty where there are none."""
    rows: list[ConsoleRow] = []
    rating = gained = 0.0
    for number, line in enumerate(lines, start=1):
        match = _MATCH.match(line) if WINS in line else None
        if match is not None:
            rating += gained
            won, lost, drawn = (int(digits or 0) for digits in match.groups())
            gained = ELO * math.log10((won + drawn / 2 + PRIOR) / (lost + drawn / 2 + PRIOR))
            share = (won + drawn / 2) / max(1, won + lost + drawn)
            rows.append(ConsoleRow(len(rows) + 1, number, {"elo": rating + gained, "share of the match": share}))
        elif rows and gained and _REJECTED.search(line):
            # The older network is kept.
            gained = 0.0
            rows[-1].values["elo"] = rating
    return (console_rows("arena", "iterations", rows),) if rows else ()
