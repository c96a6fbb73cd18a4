"""Runs that differ in their seeds alone: found, and summarised by the interquartile mean."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.comparison.interquartile_mean import interquartile_mean
from rlclinic.comparison.settings import learning_settings, own_settings
from rlclinic.model.comparison import RunOutcome, SeedGroup
from rlclinic.model.run import Run


def same_config(runs: Sequence[Run]) -> list[list[int]]:
    """Indices of the runs, those of one config together. A run without a config stands alone, whatever its log tells.

    Two runs of the same config and the same seed differ in something that their configs do not tell: they stand apart.
    """
    places: dict[object, list[int]] = {}
    for index, run in enumerate(runs):
        own_keys = own_settings(run)
        settings = {**own_keys, **learning_settings(run)}
        budget = run.config.get("total_steps")
        own = sorted((key, repr(value)) for key, value in settings.items())
        key = (
            (run.framework, run.algorithm, run.environment, repr(budget), *own)
            if own_keys or run.config.settings
            else index
        )
        # As texts: a damaged config may hold anything.
        seed = repr(run.config.get("seed"))
        taken = seed != "None" and seed in {repr(runs[other].config.get("seed")) for other in places.get(key, ())}
        places.setdefault(index if taken else key, []).append(index)
    return list(places.values())


def seed_groups(outcomes: Sequence[RunOutcome]) -> tuple[SeedGroup, ...]:
    """The groups of at least two runs with a return."""
    groups = []
    for members in same_config([outcome.run for outcome in outcomes]):
        chosen = [outcomes[index] for index in members if outcomes[index].final is not None]
        if len(chosen) < 2:
            continue
        finals = [outcome.final for outcome in chosen if outcome.final is not None]
        areas = [outcome.area for outcome in chosen if outcome.area is not None]
        groups.append(
            SeedGroup(
                over_seeds(chosen[0].label, len(chosen)),
                tuple(outcome.label for outcome in chosen),
                interquartile_mean(finals),
                min(finals),
                max(finals),
                interquartile_mean(areas),
                sum(outcome.steps_to_threshold is not None for outcome in chosen),
            )
        )
    return tuple(groups)


def over_seeds(label: str, count: int) -> str:
    """How a group is called: by its first run."""
    return label if count == 1 else f"{label} ({count} seeds)"
