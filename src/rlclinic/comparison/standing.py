"""Which run or group of seeds did best, as far as the noise allows to say."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.comparison import RunOutcome, SeedGroup
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Status


@dataclass(frozen=True, slots=True)
class _Entry:
    label: str
    final: float
    low: float
    high: float
    area: float
    steps: float | None
    running: bool = False


def standing(outcomes: Sequence[RunOutcome], groups: Sequence[SeedGroup]) -> tuple[str, str]:
    """The label of the winner, empty where the noise allows none; and a sentence."""
    entries = _entries(outcomes, groups)
    if len(entries) == 1 and groups:
        only = entries[0]
        span = f"from {only.low:.4g} to {only.high:.4g}"
        return "", f"All are seeds of one config: they ended at {only.final:.4g} (interquartile mean), {span}."
    if len(entries) == 1:
        return "", f"{entries[0].label} ended at {entries[0].final:.4g}; no other run here has a return to rank it by."
    if not entries:
        return "", "Nothing to rank: no run has a return."
    entries.sort(key=lambda entry: (-entry.final, -entry.area))
    first, second = entries[0], entries[1]
    if f"{first.final:.4g}" == f"{second.final:.4g}" and not (first.running or second.running):
        return "", f"{first.label} and {second.label} ended alike, at {first.final:.4g}."
    level = f"{first.label} ended highest, at {first.final:.4g}, {second.label} next at {second.final:.4g}"
    if first.running or second.running:
        return "", f"{level.replace('ended', 'stands')}, so far: not both have ended."
    if first.low > second.high:
        return first.label, f"{level}: beyond the noise of both."
    reached = [entry for entry in (first, second) if entry.steps is not None]
    if len(reached) == 2 and reached[0].steps != reached[1].steps:
        faster = min(reached, key=lambda entry: entry.steps or 0.0)
        other = first if faster is second else second
        when = f"step {faster.steps:,.0f}, {other.label} at step {other.steps:,.0f}"
        return "", (
            f"{first.label} and {second.label} end alike ({first.final:.4g} and {second.final:.4g}, within the noise); "
            f"{faster.label} reached the goal at {when}."
        )
    return "", f"{level}, which is within the noise."


def _entries(outcomes: Sequence[RunOutcome], groups: Sequence[SeedGroup]) -> list[_Entry]:
    grouped = {label for group in groups for label in group.members}
    found = [
        _Entry(
            outcome.label,
            outcome.final,
            outcome.final if outcome.final_low is None else outcome.final_low,
            outcome.final if outcome.final_high is None else outcome.final_high,
            outcome.area or 0.0,
            outcome.steps_to_threshold,
            outcome.run.status.state is Status.RUNNING,
        )
        for outcome in outcomes
        if outcome.label not in grouped and outcome.final is not None
    ]
    return found + [_Entry(g.label, g.final, g.final_low, g.final_high, g.area, None) for g in groups]
