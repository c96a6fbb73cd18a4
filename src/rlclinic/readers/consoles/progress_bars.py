"""The step counter of progress bars (`12/500 [01:02<42:00, 5.2s/it]`), for rows that print no step."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

# Share of the rows between which the training bar must have climbed for it to be believed.
TRUSTED_SHARE = 0.9

# Bars that one log may run at a time; a bar not seen for as many others is forgotten.
MAX_BARS = 32

_COUNTER = re.compile(r"(?<![\d./])(\d{1,12})/(\d{1,12}) \[\d{1,4}:\d\d")


def bar_steps(lines: Sequence[str], rows: Sequence[int]) -> list[int] | None:
    """For rows on these 1-based lines the step the training bar showed last before each; None if unreliable.

    Several bars run in one log (loading, generation, evaluation), told apart by their totals; the training
    bar is the one that climbs from row to row. A resumed run may set it back now and then.
    """
    before = _last_counters(lines, rows)
    if not before:
        return None
    best: list[int] | None = None
    best_climbs = -1
    for total in before[-1]:
        steps = [seen[total] for seen in before if total in seen]
        climbs = sum(later > earlier for earlier, later in pairwise(steps))
        if len(steps) == len(rows) and climbs >= best_climbs:  # of equals the bar moved last
            best, best_climbs = steps, climbs
    return best if best_climbs >= TRUSTED_SHARE * (len(rows) - 1) else None


def evenly_spaced_steps(lines: Sequence[str], rows: Sequence[int]) -> list[int] | None:
    """The steps of rows printed every so many steps, from the last count behind them; None if ambiguous.

    A bar that ends at 935 behind 46 rows leaves only one distance: with 19 steps from row to row there would
    be 49 rows, with 21 only 44.
    """
    if not rows:
        return None
    counts = {
        int(match.group(2)): int(match.group(1))
        for line in lines[max(rows) :]
        if "/" in line and "[" in line
        for match in _COUNTER.finditer(line)
    }
    fitting = {
        distance
        for count in counts.values()
        for distance in range(count // (len(rows) + 1) + 1, count // len(rows) + 1)[:2]
    }
    if len(fitting) != 1:
        return None
    distance = fitting.pop()
    return [distance * index for index in range(1, len(rows) + 1)]


def _last_counters(lines: Sequence[str], rows: Sequence[int]) -> list[dict[int, int]]:
    """Per row the last counter of every bar, keyed by the bar's total, the one that moved last at the end."""
    wanted = set(rows)
    latest: dict[int, int] = {}
    found: dict[int, dict[int, int]] = {}
    for number, line in enumerate(lines, start=1):
        # The bar may stand on the row's own line, in front of it.
        text = line.partition("{")[0] if number in wanted else line
        if "/" in text and "[" in text:
            for match in _COUNTER.finditer(text):
                total = int(match.group(2))
                latest.pop(total, None)
                latest[total] = int(match.group(1))
                if len(latest) > MAX_BARS:
                    latest.pop(next(iter(latest)))
        if number in wanted:
            found[number] = dict(latest)
    return [found[number] for number in rows]
