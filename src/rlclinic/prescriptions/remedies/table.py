"""The table of remedies: what to do about each cause, loaded from tables/*.toml and validated.

A cause has options in order of preference; the first that fits the run and yields something new is prescribed. One
of kind `config` names a hyperparameter and how its new value is found; the others give an instruction, often with code.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from rlclinic.causes.catalogue import NOTHING_WRONG, UNKNOWN, catalogue
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import PrescriptionKind, Safety
from rlclinic.model.vocabulary import FAMILIES, metric
from rlclinic.prescriptions.remedies.computed import COMPUTED
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.table_file import load_table

FOLDER = Path(__file__).with_name("tables")
WAYS = frozenset({"up", "down", "reference", "set", "compute"})


class Stage(StrEnum):
    """The order in which a careful expert acts: earlier stages confound later ones."""

    FACTS = "facts"
    """The process, the config as applied, what is logged and evaluated."""
    BUDGET = "budget"
    """Seeds and steps."""
    ENVIRONMENT = "environment"
    """The task, its reward, and whether the trainer works at all."""
    SCALE = "scale"
    STEP_SIZE = "step-size"
    """Learning rate, epochs, batches, trust regions."""
    EXPLORATION = "exploration"
    CREDIT = "credit"
    """Discount, rollouts, targets, replay."""
    NETWORK = "network"

    @property
    def rank(self) -> int:
        """0 for what comes first."""
        return list(Stage).index(self)


class Reach(StrEnum):
    """How much a remedy is thought to do if its cause is at work; a guess until trials measure it."""

    BLOCKING = "blocking"
    """The run cannot converge without it."""
    STRONG = "strong"
    MILD = "mild"
    SMALL = "small"
    NOTHING = "nothing"
    """It does not touch learning: it makes the run known or alive."""


@dataclass(frozen=True, slots=True)
class RemedyOption:
    """One way to treat a cause."""

    kind: PrescriptionKind
    safety: Safety
    risk: str
    key: str = ""
    """Canonical hyperparameter of a config option."""
    how: str = ""
    only: str = ""
    """The direction in which how = "reference" may lead: `up`, `down`, or either where empty."""
    to: object = None
    """The value of how = "set"; None removes the setting."""
    by: str = ""
    """The function of how = "compute"."""
    also: tuple[str, ...] = ()
    """Hyperparameters that move by the same factor where the user set them."""
    instruction: str = ""
    snippet: str = ""
    note: str = ""
    """A sentence added to the instruction of a config option."""
    frameworks: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remedy:
    """Everything the table says of one cause."""

    cause: str
    stage: Stage
    mechanism: str
    """What is changed: of one mechanism only one change is made per round."""
    reach: Reach
    watch: tuple[str, ...]
    options: tuple[RemedyOption, ...]
    metric: str = ""
    """What a remedy can move, where it is not the steps to the goal."""
    none: str = ""
    """Why there is no remedy, where there is none."""


@cache
def remedies() -> Mapping[str, Remedy]:
    """All remedies by cause."""
    table: dict[str, Remedy] = {}
    for entry in sorted(FOLDER.glob("*.toml")):
        for cause, raw in load_table(entry).items():
            try:
                if cause in table or cause not in catalogue() or cause in (NOTHING_WRONG, UNKNOWN):
                    raise ValueError("not a cause that needs a remedy, or it stands twice")
                table[cause] = _remedy(cause, raw)
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{entry.name}: {cause}: {error}") from error
    return table


def _remedy(cause: str, raw: Mapping[str, Any]) -> Remedy:
    options = tuple(_option(option) for option in raw.get("options", ()))
    if bool(options) == bool(raw.get("none")):
        raise ValueError("either options, or `none` with the reason")
    watch = tuple(raw.get("watch", ()))
    unknown = [name for name in watch if metric(name) is None]
    if unknown:
        raise ValueError(f"not in the vocabulary: {', '.join(unknown)}")
    stage = Stage(raw["stage"])
    mechanism, reach = raw.get("mechanism", stage.value), Reach(raw["reach"])
    return Remedy(cause, stage, mechanism, reach, watch, options, raw.get("metric", ""), raw.get("none", ""))


def _option(raw: Mapping[str, Any]) -> RemedyOption:
    fields = dict(raw)
    for name in ("also", "frameworks", "families", "algorithms"):
        fields[name] = tuple(fields.get(name, ()))
    fields["kind"], fields["safety"] = PrescriptionKind(fields["kind"]), Safety(fields["safety"])
    option = RemedyOption(**fields)
    unknown = [name for name in (option.key, *option.also) if name and name not in hyperparameters()]
    if unknown:
        raise ValueError(f"not canonical hyperparameters: {', '.join(unknown)}")
    if set(option.families) - set(FAMILIES):
        raise ValueError(f"unknown families: {', '.join(option.families)}")
    if option.kind is PrescriptionKind.CONFIG:
        _check_config_option(option)
    elif not option.instruction:
        raise ValueError("what is not a config change needs an instruction")
    if not option.risk:
        raise ValueError("every remedy has a risk")
    return option


def _check_config_option(option: RemedyOption) -> None:
    if option.how not in WAYS:
        raise ValueError(f"how must be one of {', '.join(sorted(WAYS))}")
    if option.how == "compute":
        if option.by not in COMPUTED:
            raise ValueError(f"no function computes {option.by!r}")
    elif option.only not in ("", "up", "down"):
        raise ValueError(f"{option.only!r} is no direction")
    elif not option.key:
        raise ValueError("a config option names its hyperparameter")
