"""Which goals of the lab's benchmarks are reached, and what stands between the records and those that are not."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from bench.repair.score import Case, Harm, share

FIRST, ROUNDS, MOST_HARM, FEWEST_TREATMENTS = 0.8, 0.95, 0.02, 150
HALF, FEWEST_STARTS = 0.5, 4
MOST_SELF_TIME, FEWEST_PAIRS = 0.02, 5


def repair_goals(cases: Sequence[Case], harm: Harm, *, untreated: int = 0) -> str:
    """One sentence for each goal of the repair rate; none is decided while configurations wait for their treatment."""
    told = []
    for name, goal, levels in (
        ("the first prescription", FIRST, [case.first for case in cases]),
        ("three rounds", ROUNDS, [case.rounds for case in cases]),
    ):
        hits, total = share(levels)
        word = "reached" if total and hits / total >= goal else "not reached"
        if untreated:
            word = f"not decided: {untreated} configurations are not treated yet"
        told.append(f"The goal of {goal:.0%} by {name} is {word}.")
    left = [f"{case.task} {case.fault}" for case in cases if share([case.rounds])[0] == 0]
    if left:
        told.append(f"Not repaired after three rounds: {', '.join(left)}.")
    if harm.treatments < FEWEST_TREATMENTS:
        missing = FEWEST_TREATMENTS - harm.treatments
        told.append(
            f"Harm is not counted over {FEWEST_TREATMENTS} treatments: {missing} more are to be trained, so the upper "
            "end of its interval, not the share itself, is what is known."
        )
    return " ".join(told)


def optimize_goal(ratios: Mapping[str, Sequence[float]], searched: Sequence[float]) -> str:
    """Whether `optimize` needs half the steps: by start the ratios of what each pair ends with, and of the searches."""
    every = [ratio for values in ratios.values() for ratio in values]
    if not every:
        return "Nothing is measured yet."
    middle = statistics.median(every)
    won = sum(ratio < 1 for ratio in every)
    within = sum(ratio <= HALF for ratio in searched)
    told = [
        f"From the start to the first run at the threshold the search takes {statistics.median(searched):.2f} of TPE's "
        f"steps (median of {len(searched)} pairs; goal: {HALF}; {within} pairs reach it; a search that never gets "
        "there counts with all its steps).",
        f"The configurations at the end need {middle:.2f} of the steps of TPE's (median; {won} of {len(every)} pairs "
        "are below 1).",
    ]
    if middle > HALF:
        told.append(
            "By them the goal is not reached. A pair compares means of three seeds whose runs differ by factors of 2 "
            "to 4, so one pair says little; and a prescription restores a configuration that works, while faster ones "
            "are found by draws, of which both searches have few."
        )
    if len(ratios) < FEWEST_STARTS or min(len(values) for values in ratios.values()) < 2:
        told.append(
            f"Of {FEWEST_STARTS} starts on two seeds each, {len(every)} of {2 * FEWEST_STARTS} pairs are there."
        )
    return " ".join(told)


def overhead_goal(found: Mapping[str, Mapping[str, float | int | None]]) -> str:
    """Whether self-time stays below its goal, by algorithm."""
    shares = {name: entry["share"] for name, entry in found.items()}
    over = [f"{name} ({value:.1%})" for name, value in shares.items() if value is not None and value >= MOST_SELF_TIME]
    told = []
    if over:
        told.append(
            f"Above the goal of {MOST_SELF_TIME:.0%}: {', '.join(over)}. Nearly half of it is the wrapper that watches "
            "every env step, and the profiler charges each such call with a time of its own."
        )
    few = [name for name, entry in found.items() if (entry["pairs"] or 0) < FEWEST_PAIRS]
    if few:
        told.append(f"Fewer than {FEWEST_PAIRS} pairs are measured of {', '.join(few)}.")
    return " ".join(told) or "All goals are reached."
