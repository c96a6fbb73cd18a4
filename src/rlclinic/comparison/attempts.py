"""What was already tried around the best config, and which neighbours were not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rlclinic.model.history import Attempt, PastConfig
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Change
from rlclinic.model.run import Run
from rlclinic.reference.tasks import log_position
from rlclinic.reference.usual import how_unusual

# A config that differs in more settings than this says nothing about any of them.
NEAR = 2
# Factor between neighbours, by setting: 3 for those whose effect is slow, 2 for the others.
STEPS = {"learning_rate": 3.0, "ent_coef": 3.0, "n_epochs": 2.0, "batch_size": 2.0, "tau": 2.0, "update_to_data": 2.0}
# A value within this share of a factor (in logs) of one that was tried counts as tried.
SAME = 0.5
# Settings that follow from others.
DERIVED = frozenset({"rollout_size", "n_minibatches", "learning_rate_final", "ent_coef_final"})


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A value next to the best one that no run has tried."""

    key: str
    before: float
    after: float


def attempts(configs: Sequence[PastConfig], run: Run) -> tuple[Attempt, ...]:
    """The configs near the best one (the first); `run` is a run of it, for the user's own keys."""
    best = configs[0]
    found = []
    for config in configs[1:]:
        changes = changes_between(best, config, run)
        if 1 <= len(changes) <= NEAR and config.algorithm == best.algorithm:
            difference = config.final - best.final
            found.append(Attempt(config.label, changes, config.final, difference, len(config.paths), config.steps))
    return tuple(sorted(found, key=lambda item: (len(item.changes), -item.difference)))


def changes_between(best: PastConfig, other: PastConfig, run: Run) -> tuple[Change, ...]:
    """The settings that differ. What only one of two frameworks' configs tells is no difference."""
    keys = dict.fromkeys((*best.settings, *other.settings))
    if best.framework != other.framework:
        keys = dict.fromkeys(key for key in best.settings if key in other.settings)
    return tuple(
        Change(key, native_key(run, key), best.settings.get(key), other.settings.get(key))
        for key in keys
        if key not in DERIVED and repr(best.settings.get(key)) != repr(other.settings.get(key))
    )


def native_key(run: Run, key: str) -> str:
    """A setting under the name that the user gives it."""
    setting = run.config.settings.get(key)
    return setting.native_key if setting is not None else key


def untried(configs: Sequence[PastConfig], algorithm: str) -> list[Neighbour]:
    """Neighbours of the best values within two spreads of working configs, the nearest to them first."""
    best = configs[0]
    found: list[tuple[float, Neighbour]] = []
    for key, factor in STEPS.items():
        value = best.settings.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            continue
        tried = [config.settings.get(key) for config in configs if config.algorithm == best.algorithm]
        for after in (value * factor, value / factor):
            if isinstance(value, int) and after != int(after):
                continue
            if _was_tried(key, after, tried, factor) or not _divides(key, after, best):
                continue
            away = how_unusual(key, after, algorithm=algorithm)
            if away is not None and abs(away.spreads) <= NEAR:
                shown = int(after) if isinstance(value, int) else float(f"{after:.2g}")
                found.append((abs(away.spreads), Neighbour(key, value, shown)))
    return [item for _, item in sorted(found, key=lambda pair: pair[0])]


def _divides(key: str, value: float, best: PastConfig) -> bool:
    """Whether a batch fits evenly into a rollout, where there are rollouts."""
    envs, steps = best.settings.get("n_envs"), best.settings.get("n_steps")
    if key != "batch_size" or not isinstance(envs, int) or not isinstance(steps, int):
        return True
    return value <= envs * steps and (envs * steps) % value == 0


def _was_tried(key: str, value: float, tried: Sequence[object], factor: float) -> bool:
    place = log_position(key, value)
    for other in tried:
        if isinstance(other, bool) or not isinstance(other, int | float):
            continue
        at = log_position(key, float(other))
        if place is not None and at is not None and abs(place - at) < SAME * math.log10(factor):
            return True
    return False
