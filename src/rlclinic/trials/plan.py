"""What a trial sets out to do: arms, seeds, budget. A plan is plain data, so that the ledger can hold it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Change
from rlclinic.model.trial import BASELINE


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to train: the baseline, or the baseline with changes."""

    name: str
    changes: tuple[Change, ...] = ()
    causes: tuple[str, ...] = ()
    """The causes that the changes treat, for the table of measured effects."""


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """A whole experiment before it is run."""

    run: str
    environment: str
    algorithm: str
    arms: tuple[Arm, ...]
    """The baseline first."""
    seeds: tuple[int, ...]
    budget: int
    """Env steps of every run."""
    threshold: float | None
    config: dict[str, Any]
    """The recipe of the baseline, or the values that the user's command takes."""
    command: str = ""
    """The user's own training command with `{key}` for values; empty where the lab trains."""
    notes: tuple[str, ...] = ()
    trust: tuple[str, ...] = ()
    """What of the code that the run names may be imported. It is no part of the experiment."""

    def __post_init__(self) -> None:
        if len(self.arms) < 2 or self.arms[0].name != BASELINE or self.arms[0].changes:
            raise ValueError("a trial has an unchanged baseline and at least one arm with changes")
        if len(set(self.seeds)) != len(self.seeds) or not self.seeds:
            raise UsageError(f"seeds {self.seeds}: each seed once, at least one")

    @property
    def id(self) -> str:
        """Follows from the content, so that the same trial asked for again goes on where it was."""
        text = json.dumps(self.to_object(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    def to_object(self) -> dict[str, Any]:
        """The plan as plain data, without what is trusted: that is said anew each time."""
        return {key: value for key, value in asdict(self).items() if key != "trust"}

    def jobs(self) -> list[Job]:
        """Every run of the trial, seed by seed, so that the arms stay level while it goes on."""
        return [self.job(arm, seed) for seed in self.seeds for arm in self.arms]

    def job(self, arm: Arm, seed: int) -> Job:
        """One run of an arm."""
        values = {**self.config, **{change.key: change.after for change in arm.changes}}
        return Job(self.id, arm.name, seed, values, self.budget, self.threshold, self.command, trust=self.trust)


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a trial: all that a worker needs."""

    trial: str
    arm: str
    seed: int
    config: dict[str, Any]
    budget: int
    threshold: float | None
    command: str = ""
    stop_after: int | None = None
    """Env steps after which the run is of no more use; its schedules still follow the budget."""
    trust: tuple[str, ...] = ()
    """What of the code that the config names may be imported."""

    @property
    def name(self) -> str:
        """The name of its run folder."""
        return f"{self.arm}-seed{self.seed}"

    def to_json(self) -> str:
        """The job as text for another process."""
        return json.dumps(asdict(self))


def job_from_json(text: str) -> Job:
    """The inverse of `Job.to_json`."""
    return Job(**json.loads(text))


def plan_from(values: dict[str, Any]) -> TrialPlan:
    """The inverse of `TrialPlan.to_object`."""
    arms = tuple(
        Arm(arm["name"], tuple(Change(**change) for change in arm["changes"]), tuple(arm["causes"]))
        for arm in values["arms"]
    )
    return TrialPlan(**{**values, "arms": arms, "seeds": tuple(values["seeds"]), "notes": tuple(values["notes"])})


def arm_names(count: int) -> Sequence[str]:
    """Names of the arms with changes: `change`, or `change-1`, `change-2` where there are several."""
    return ("change",) if count == 1 else tuple(f"change-{number}" for number in range(1, count + 1))
