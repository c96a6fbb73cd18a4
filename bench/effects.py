"""What prescribed changes did, as the table that expected impacts rest on: `python -m bench.effects [--write]`.

The source is the repair record: changes as a diagnosis prescribed them, trained again on the same seed; healthy runs
are no part of it. An effect is the share of the missing return that came back: 0 nothing, 1 all of it. (The fault
benchmark's pairs of faulty and clean runs say nothing more in this unit: undoing the fault brings all of it back by
construction.) Environments are left out in turn to see how often the intervals hold.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.prescriptions import direction_of
from bench.repair import score
from bench.repair.tasks import tasks
from rlclinic.model.effect import REGAINED, EffectRow
from rlclinic.model.prescription import Change
from rlclinic.prescriptions.proposals.effects import TABLE, Effects
from rlclinic.prescriptions.proposals.impact import FEWEST_ENVIRONMENTS
from rlclinic.prescriptions.proposals.predictive import predictive

# Levels above which too little is missing for a share of it to mean anything.
LITTLE_MISSING = 0.8
# Bounds of an effect: what is beyond them is the scatter of seeds, divided by little.
WORST, BEST = -0.5, 1.2
HEAD = """\
# What prescribed changes did where they were tried: shares of the missing return that came back, by `bench.effects`.
# One row per cause, change, environment and algorithm. The ledger of trials adds its own rows when a diagnosis is made;
# a change that was measured on fewer than three environments has an expected impact that is called a guess.
"""


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.effects", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table of the package")
    rows = list(_rows())
    for text in _coverage(rows):
        print(text)
    if parser.parse_args().write:
        lines = ["rows = [", *(f"  {_line(row)}," for row in rows), "]"]
        Path(str(TABLE)).write_text(HEAD + "\n" + "\n".join(lines) + "\n", encoding="utf-8")


def _rows() -> Iterator[EffectRow]:
    """The mean effect of each change under each cause on each environment."""
    found: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for key, effect in _treatments():
        found[key].append(min(max(effect, WORST), BEST))
    for (cause, key, way, environment, algorithm, source), effects in sorted(found.items()):
        # Every source is told, and how many trials it gave.
        yield EffectRow(
            cause, key, way, environment, algorithm, REGAINED, round(fmean(effects), 3), len(effects), source
        )  # type: ignore[arg-type]


def _treatments() -> Iterator[tuple[tuple[str, ...], float]]:
    for line in (*score.patients(), *score.held_out()):
        task, fault = tasks()[line["task"]], line["fault"]
        if not fault:
            continue
        recipe = task.faulty(fault)
        for item in line["rounds"]:
            if item["applied"] is None:
                continue
            advice = item["advice"][item["applied"]]
            key, after = next(iter(advice["changes"].items()))
            way = direction_of(Change(key, key, recipe.get(key), after))
            if item["before"] < LITTLE_MISSING:
                regained = (item["after"] - item["before"]) / (1.0 - item["before"])
                place = (recipe.environment.rpartition(":")[2], recipe.algorithm)
                yield (advice["causes"][0], key, way, *place, "repair record"), regained
            recipe = recipe.with_changes(advice["changes"])


def _coverage(rows: list[EffectRow]) -> Iterator[str]:
    """How often the interval from the other environments holds the effect on one that was left out, alone or as one of
    two: pairs share environments, so they are worth fewer than they count."""
    groups: dict[tuple[str, str, str], list[EffectRow]] = defaultdict(list)
    for row in rows:
        groups[row.cause, row.key, row.direction].append(row)
    measured = sum(len({row.environment for row in items}) >= FEWEST_ENVIRONMENTS for items in groups.values())
    trials = sum(row.n_seeds for row in rows)
    enough = f"{measured} of {len(groups)} changes measured on {FEWEST_ENVIRONMENTS} environments or more"
    yield f"{trials} trials in {len(rows)} rows; {enough}"
    for count, what in ((1, "environments"), (2, "environments, two at a time")):
        tried = [item for cause, members in groups.items() for item in _left_out(cause, members, count)]
        if tried:
            held, width = sum(holds for holds, _ in tried), fmean(width for _, width in tried)
            share = held / len(tried)
            yield f"80% intervals hold {held} of {len(tried)} {what} left out ({share:.0%}), mean width {width:.2f}"


def _left_out(cause: tuple[str, str, str], members: list[EffectRow], count: int) -> Iterator[tuple[bool, float]]:
    """Whether the interval from the others holds each effect of so many environments, and how wide it is."""
    for absent in combinations(sorted({row.environment for row in members}), count):
        rest = Effects(tuple(row for row in members if row.environment not in absent))
        there = rest.by_environment(*cause, "", REGAINED)
        if len(there) < FEWEST_ENVIRONMENTS:
            continue
        low, high = predictive(there)
        own = Effects(tuple(row for row in members if row.environment in absent))
        for effect, _ in own.by_environment(*cause, "", REGAINED).values():
            yield low <= effect <= high, high - low


def _line(row: EffectRow) -> str:
    values: dict[str, Any] = {name: getattr(row, name) for name in EffectRow.__dataclass_fields__}
    cells = (
        f"{key} = {value}" if isinstance(value, int | float) else f'{key} = "{value}"' for key, value in values.items()
    )
    return f"{{ {', '.join(cells)} }}"


if __name__ == "__main__":
    main()
