"""The tables of one framework, loaded from its toml and validated.

A toml starts with its identity and how to recognise it, so that only this head has to be parsed to
find out which framework wrote a run. `extends` names a framework whose sections apply too, where this
one does not say otherwise. The sections that follow are:

    [steps]            what the logged step counts, and how to get env steps from it
    [path]             which folder above the run names its environment or algorithm
    [algorithms]       logged names that give the algorithm away, most telling first
    [metrics]          logged name -> canonical name, with sign, scale, estimator, window, caveat
    [hyperparameters]  the framework's key -> canonical hyperparameter, "" for a key that is none
    [derived]          hyperparameters that follow from others by multiplication and division
    [calls]            calls of a training script whose arguments are settings
    [[defaults]]       what applies where the user set nothing, by algorithm and version
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, get_args

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import StepAxis
from rlclinic.model.vocabulary import metric
from rlclinic.reference.hyperparameters import hyperparameters
from rlclinic.reference.patterns import PatternTable
from rlclinic.reference.table_file import load_table, parsed_once

COUNTER = "counter"
"""Canonical name of bookkeeping columns: they may serve as a step axis and are no metric."""

FOLDER = Path(__file__).with_name("frameworks")
AXES = frozenset(get_args(StepAxis))
FORMS = frozenset({"", "complement", "layers"})
CONDITIONS = frozenset({"metric", "file", "text", "config", "log", "path"})


@dataclass(frozen=True, slots=True)
class MetricName:
    """What one logged name means."""

    name: str
    sign: int = 1
    """-1 where the framework logs the negative, 0 where only the data tell."""
    scale: float = 1.0
    offset: float = 0.0
    """Added after scaling: a logged share of the others is 1 minus the share meant."""
    divide_by: str = ""
    """Canonical hyperparameter that the logged value was multiplied with."""
    axis: str = ""
    """Step axis of this metric where it differs from the framework's."""
    estimator: str = ""
    window: str = ""
    decimals: int | None = None
    caveat: str = ""
    caveat_for: tuple[str, ...] = ()
    """Environments that the caveat is about; empty for all."""
    algorithms: tuple[str, ...] = ()
    """Algorithms for which the name has this meaning; empty for all."""


@dataclass(frozen=True, slots=True)
class HyperparameterName:
    """What one key of a config means."""

    name: str
    """Canonical hyperparameter; empty for a key that is known to be none."""
    algorithms: tuple[str, ...] = ()
    """Algorithms for which the key has this meaning; empty for all."""
    also: tuple[str, ...] = ()
    """Other canonical hyperparameters that the same value sets, unless a key of their own does."""
    form: str = ""
    """How the framework writes the value, if otherwise: `complement` for 1 - value, `layers` for a list of parts."""


@dataclass(frozen=True, slots=True)
class Steps:
    """How to get from the logged step to env steps."""

    axis: str = "env_steps"
    """What the logged step of an event or row counts."""
    columns: tuple[str, ...] = ()
    """Columns (or metrics) that hold the step, best first."""
    column_axis: str = "env_steps"
    """What those columns count."""
    times: tuple[str, ...] = ()
    """Hyperparameters to multiply the logged step with to get env steps."""
    offset: int = 0
    """Added before: 1 where the first iteration is logged as 0 after it has been taken."""
    exceptions: tuple[tuple[str, str], ...] = ()
    """Name patterns whose step counts something else, with that axis."""


@dataclass(frozen=True, slots=True)
class PathHints:
    """How many levels above the run folder its environment and algorithm are named; 0 is the folder itself."""

    environment: int | None = None
    algorithm: int | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """A hyperparameter that follows from others."""

    name: str
    multiply: tuple[str, ...]
    divide: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Defaults:
    """Values that apply where the user set nothing."""

    values: Mapping[str, object]
    algorithms: tuple[str, ...] = ()
    since: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CallNames:
    """Which settings the arguments of one call are."""

    prefix: str = ""
    """Before every key: the section that a config of this framework has them in."""
    order: tuple[str, ...] = ()
    """The keys of positional arguments; empty for one that is no setting."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Keys of keyword arguments that are called otherwise; empty for one that means something else here."""
    implies: Mapping[str, object] = field(default_factory=dict)
    """What the call means by itself."""
    counts: str = ""
    """The key of the number of items in the first argument, a list."""


@dataclass(frozen=True, slots=True)
class Head:
    """Identity of a framework and how to recognise it."""

    id: str
    title: str
    order: int
    detect: tuple[tuple[str, ...], ...]
    default_algorithm: str = ""
    """What it trains with where nothing tells otherwise; empty where it has several."""
    imports: tuple[str, ...] = ()
    """Modules that a training script of it imports."""


@dataclass(frozen=True)
class Framework:
    """Everything the tables say of one framework."""

    head: Head
    steps: Steps = field(default_factory=Steps)
    path: PathHints = field(default_factory=PathHints)
    algorithms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: PatternTable[tuple[MetricName, ...]] = field(default_factory=lambda: PatternTable({}, _metric_names))
    hyperparameters: PatternTable[tuple[HyperparameterName, ...]] = field(
        default_factory=lambda: PatternTable({}, _hyperparameter_names)
    )
    derived: tuple[Derived, ...] = ()
    defaults: tuple[Defaults, ...] = ()
    calls: PatternTable[CallNames] = field(default_factory=lambda: PatternTable({}, _call_names))

    @cached_property
    def native_keys(self) -> Mapping[str, str]:
        """The framework's own key of each canonical hyperparameter: the first that its table has."""
        found: dict[str, str] = {}
        for key in self.hyperparameters:
            for entry in self.hyperparameters[key] if "*" not in key else ():
                found.setdefault(entry.name, key)
        return found

    def defaults_for(self, algorithm: str, version: str) -> dict[str, object]:
        """The defaults of one algorithm; an unknown version means the newest."""
        release = _release(version)
        found: dict[str, object] = {}
        for entry in self.defaults:
            if entry.algorithms and algorithm.upper() not in entry.algorithms:
                continue
            if release and entry.since > release:
                continue
            found.update(entry.values)
        return found


@cache
def heads() -> tuple[Head, ...]:
    """Every framework's head, in the order in which they are tried."""
    found = [_head(raw) for raw in _parse_heads(_tables()).values()]
    return tuple(sorted(found, key=lambda head: (head.order, head.id)))


def framework_of_modules(modules: Iterable[str]) -> str:
    """The framework whose modules a script imports or a command starts; empty where none is known."""
    names = {".".join(parts[:length]) for name in modules for parts in [name.split(".")] for length in (1, 2)}
    return next((head.id for head in heads() if names.intersection(head.imports)), "")


@cache
def framework(framework_id: str) -> Framework:
    """The tables of a framework; one without a toml has empty tables."""
    for entry in _tables():
        if entry.name == f"{framework_id}.toml":
            return _framework(_with_base(load_table(entry)))
    return Framework(Head(framework_id, framework_id, 999, ()))


def framework_from(table: dict[str, Any], name: str) -> Framework:
    """Validate the content of one toml, every name included."""
    try:
        found = _framework(_with_base(table))
        for names in (found.metrics, found.hyperparameters, found.calls):
            for key in names:
                names[key]
        return found
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from error


def _framework(raw: Mapping[str, Any]) -> Framework:
    return Framework(
        head=_head(raw),
        steps=_steps(raw.get("steps", {})),
        path=PathHints(**raw.get("path", {})),
        algorithms={key: tuple(value) for key, value in raw.get("algorithms", {}).items()},
        metrics=PatternTable(raw.get("metrics", {}), _metric_names),
        hyperparameters=PatternTable(raw.get("hyperparameters", {}), _hyperparameter_names),
        derived=tuple(_derived(key, value) for key, value in raw.get("derived", {}).items()),
        defaults=tuple(_defaults(value) for value in raw.get("defaults", [])),
        calls=PatternTable(raw.get("calls", {}), _call_names),
    )


def _with_base(raw: dict[str, Any]) -> dict[str, Any]:
    base_id = raw.get("extends")
    if not base_id:
        return raw
    merged = _with_base(load_table(FOLDER / f"{base_id}.toml"))
    if raw.get("own_defaults"):
        merged["defaults"] = []
    for key, value in raw.items():
        if isinstance(value, dict):
            # Own entries come first: the order of a table is its order of preference.
            merged[key] = {**value, **{k: v for k, v in merged.get(key, {}).items() if k not in value}}
        elif key == "defaults":
            merged[key] = [*merged.get(key, []), *value]
        else:
            merged[key] = value
    return merged


def _tables() -> list[Path]:
    return sorted(FOLDER.glob("*.toml"))


def _parse_heads(tables: list[Path]) -> dict[str, Any]:
    # Parsing every table in full would cost more than reading a small run: stop at the first section.
    parts = []
    for table in tables:
        head, separator, _ = table.read_bytes().partition(b"\n[")
        if not separator:
            raise ValueError(f"{table.name}: no section follows the head")
        parts.append(f"['{table.stem}']\n".encode() + head)
    return parsed_once(FOLDER / "heads.toml", b"\n".join(parts))


def _head(raw: Mapping[str, Any]) -> Head:
    detect = tuple(tuple(line) for line in raw.get("detect", []))
    for condition in (item for line in detect for item in line):
        if condition.partition(":")[0] not in CONDITIONS:
            raise ValueError(f"unknown condition {condition!r} in detect")
    imports = tuple(raw.get("imports", ()))
    return Head(raw["id"], raw["title"], int(raw["order"]), detect, raw.get("default_algorithm", ""), imports)


def _steps(raw: Mapping[str, Any]) -> Steps:
    axis = raw.get("axis", "env_steps")
    exceptions = tuple(raw.get("exceptions", {}).items())
    column_axis = raw.get("column_axis", "env_steps")
    for name in (axis, column_axis, *(name for _, name in exceptions)):
        if name not in AXES:
            raise ValueError(f"unknown step axis {name!r}")
    times = _known_hyperparameters(raw.get("times", []))
    columns = tuple(raw.get("columns", []))
    return Steps(axis, columns, column_axis, times, int(raw.get("offset", 0)), exceptions)


def _metric_names(raw: object) -> tuple[MetricName, ...]:
    entries = raw if isinstance(raw, list) else [raw]
    return tuple(_metric_name(entry) for entry in entries)


def _metric_name(raw: Any) -> MetricName:
    entry = {"name": raw} if isinstance(raw, str) else dict(raw)
    for key in ("algorithms", "caveat_for"):
        entry[key] = tuple(entry.get(key, ()))
    name = MetricName(**entry)
    if name.name != COUNTER and metric(name.name.replace("*", "x")) is None:
        raise ValueError(f"{name.name!r} is not in the vocabulary")
    if name.sign not in (1, -1, 0):
        raise ValueError(f"{name.name}: sign must be 1, -1 or 0")
    if name.axis and name.axis not in AXES:
        raise ValueError(f"{name.name}: unknown step axis {name.axis!r}")
    _known_hyperparameters([name.divide_by] if name.divide_by else [])
    return name


def _hyperparameter_name(raw: Mapping[str, Any]) -> HyperparameterName:
    several = {key: tuple(raw.get(key, ())) for key in ("algorithms", "also")}
    return HyperparameterName(**{**raw, **several})


def _hyperparameter_names(raw: Any) -> tuple[HyperparameterName, ...]:
    entries = raw if isinstance(raw, list) else [{"name": raw} if isinstance(raw, str) else raw]
    names = tuple(_hyperparameter_name(entry) for entry in entries)
    if unknown := {entry.form for entry in names} - FORMS:
        raise ValueError(f"{names[0].name}: unknown form {', '.join(unknown)}")
    _known_hyperparameters(name for entry in names for name in (entry.name, *entry.also) if name)
    return names


def _derived(name: str, raw: Mapping[str, Any]) -> Derived:
    _known_hyperparameters([name, *raw["multiply"], *raw.get("divide", [])])
    return Derived(name, tuple(raw["multiply"]), tuple(raw.get("divide", [])))


def _defaults(raw: Mapping[str, Any]) -> Defaults:
    _known_hyperparameters(raw["values"])
    algorithms = tuple(name.upper() for name in raw.get("algorithms", []))
    return Defaults(dict(raw["values"]), algorithms, _release(raw.get("since", "")))


def _call_names(raw: Mapping[str, Any]) -> CallNames:
    return CallNames(**{**raw, "order": tuple(raw.get("order", ()))})


def _known_hyperparameters(given: Iterable[str]) -> tuple[str, ...]:
    names = tuple(given)
    unknown = sorted({name for name in names if name not in hyperparameters()})
    if unknown:
        raise ValueError(f"not canonical hyperparameters: {', '.join(unknown)}")
    return names


_NUMBER = re.compile("[0-9]{1,9}")


def _release(version: str) -> tuple[int, ...]:
    digits: list[int] = []
    for part in version.split("."):
        if not _NUMBER.fullmatch(part):
            break
        digits.append(int(part))
    return tuple(digits)
