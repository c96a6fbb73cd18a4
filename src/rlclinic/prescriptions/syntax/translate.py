"""Canonical changes under the framework's own keys, converted where it counts in other units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.numbers import number
from rlclinic.model.prescription import Change
from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.applicable import applies
from rlclinic.prescriptions.syntax.assignment import AlreadySo, Assignment, CannotWrite, Names, Rate
from rlclinic.reference.framework import framework
from rlclinic.reference.hyperparameters import hyperparameters

RATE_KEYS = ("learning_rate", "learning_rate_schedule", "learning_rate_final")
CONSTANT = frozenset({"", "constant", "fixed", "none", "false", "null"})
LINEAR = frozenset({"linear", "lin", "true"})

BUDGETS = ("total_steps", "total_updates", "total_epochs")


@dataclass(frozen=True, slots=True)
class Known:
    """The numbers of a run, with the changes applied."""

    run: Run
    changed: Mapping[str, object]

    def __call__(self, name: str) -> float:
        value = number(self.changed[name]) if name in self.changed else self.run.config.number(name)
        if value is None:
            raise CannotWrite(f"{name} is not known, so the change cannot be converted to this framework's terms")
        return value


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Another hyperparameter that says the same, and how its value follows."""

    name: str
    convert: Callable[[float, Known], float]
    rounds_up: bool = False
    """For budgets: a part of an update more than asked is no other experiment."""


# Tried in order where a framework has no key for the name.
EQUIVALENTS: dict[str, tuple[Equivalent, ...]] = {
    "batch_size": (
        Equivalent("n_minibatches", lambda value, known: _rollout(known) / value),
        Equivalent("mini_batch_size", lambda value, known: value / known("group_size")),
    ),
    "n_minibatches": (Equivalent("batch_size", lambda value, known: _rollout(known) / value),),
    "rollout_size": (Equivalent("n_steps", lambda value, known: value / known("n_envs")),),
    "n_steps": (Equivalent("rollout_size", lambda value, known: value * known("n_envs")),),
    "log_std_init": (Equivalent("init_std", lambda value, known: math.exp(value)),),
    "init_std": (Equivalent("log_std_init", lambda value, known: math.log(value)),),
    "exploration_steps": (Equivalent("exploration_fraction", lambda value, known: value / known("total_steps")),),
    "exploration_fraction": (Equivalent("exploration_steps", lambda value, known: value * known("total_steps")),),
    "update_to_data": (Equivalent("gradient_steps", lambda value, known: value * known("train_freq")),),
    "total_steps": (
        Equivalent("total_updates", lambda value, known: value / _steps_per(known, "total_updates"), rounds_up=True),
        Equivalent("total_epochs", lambda value, known: value / _steps_per(known, "total_epochs"), rounds_up=True),
    ),
}


def translate(run: Run, changes: Sequence[Change], names: Names) -> tuple[Assignment, ...]:
    """The changes as native assignments; CannotWrite with the reason where one has no words."""
    found: dict[str, Assignment] = {}
    for raw in (*_rates(run, changes, names), *_others(run, changes, names)):
        assignment = names.finish(run, raw)
        known = found.setdefault(assignment.key, assignment)
        if known.after != assignment.after:
            raise CannotWrite(f"two changes set {assignment.key}: to {known.after!r} and to {assignment.after!r}")
    native = run.config.native
    changed = tuple(item for item in found.values() if item.key not in native or item.before != item.after)
    if changes and not changed:
        raise AlreadySo("the config already has these values")
    return changed


def native_key(run: Run, name: str, names: Names) -> str | None:
    """The key that sets a hyperparameter: the user's own, else the dialect's, else the framework's first."""
    setting = run.config.settings.get(name)
    own = "" if setting is None or setting.is_default or setting.is_derived else setting.native_key
    options = [_by_algorithm(names.always, name, run), own, _by_algorithm(names.keys, name, run), *_table(run, name)]
    for key in options:
        # A leading underscore marks what a trainer saved of itself, not what anybody writes.
        if key and not key.startswith("_") and not _by_algorithm(names.computed, key, run):
            return key
    return None


def rate_of(run: Run, changes: Sequence[Change] = ()) -> Rate:
    """The learning rate with its course, as the run had it or as the changes make it."""
    values = {name: run.config.get(name) for name in RATE_KEYS}
    values.update({change.key: change.after for change in changes if change.key in RATE_KEYS})
    start, word, final = (values[name] for name in RATE_KEYS)
    kind = str(word).lower() if word is not None else ""
    kind = "constant" if kind in CONSTANT else "linear" if kind in LINEAR else str(word)
    return Rate(number(start), kind, number(final) or 0.0)


def _rates(run: Run, changes: Sequence[Change], names: Names) -> Sequence[Assignment]:
    concerned = [change for change in changes if change.key in RATE_KEYS]
    before, after = rate_of(run), rate_of(run, changes)
    if before == after:
        return []
    # Without words for schedules the start can still be moved: the rest of the course stays.
    is_same_course = (before.kind, before.final) == (after.kind, after.final)
    if is_same_course and (after.kind == "constant" or names.rate is None):
        starts = [change for change in concerned if change.key == "learning_rate"]
        return [item for change in starts for item in _one(run, change, changes, names)]
    if names.rate is None:
        raise CannotWrite(f"{run.framework} has no setting for the course of the learning rate ({after.kind})")
    if after.start is None:
        raise CannotWrite("the learning rate of the run is not known, so its schedule cannot be written")
    return names.rate(run, before, after)


def _others(run: Run, changes: Sequence[Change], names: Names) -> Iterable[Assignment]:
    wanted = {change.key: change.after for change in changes}
    grouped: set[str] = set()
    for keys, writer in names.groups.items():
        mine = {key: wanted[key] for key in keys if key in wanted}
        if mine:
            for key in mine:
                _check_possible(run, key, names)
            grouped.update(mine)
            yield from writer(run, mine)
    for change in changes:
        if change.key not in RATE_KEYS and change.key not in grouped:
            yield from _one(run, change, changes, names)


def _one(run: Run, change: Change, changes: Sequence[Change], names: Names) -> list[Assignment]:
    _check_possible(run, change.key, names)
    key = native_key(run, change.key, names)
    if key is not None:
        convert = names.values.get(change.key)
        after = _in_kind(change.key, change.after)
        if convert is None:
            return [Assignment(key, change.before, after)]
        return [Assignment(key, _before(convert, change.before), convert(after))]
    for other in EQUIVALENTS.get(change.key, ()):
        other_key = native_key(run, other.name, names)
        if other_key is not None:
            return [_converted(run, change, changes, other, other_key)]
    raise CannotWrite(
        f"{run.framework} has no setting for {change.key}"
        + (f" in {run.algorithm}" if run.algorithm else "")
        + _reason_computed(run, change.key, names)
    )


def _check_possible(run: Run, name: str, names: Names) -> None:
    reason = _by_algorithm(names.impossible, name, run)
    if not reason and not applies(name, run.algorithm) and not _is_set(run, name):
        reason = f"{run.algorithm} has no {name}"
    if reason:
        raise CannotWrite(reason)


def _is_set(run: Run, name: str) -> bool:
    setting = run.config.settings.get(name)
    return setting is not None and not setting.is_default


def _converted(run: Run, change: Change, changes: Sequence[Change], other: Equivalent, key: str) -> Assignment:
    after = _convert(other, change.after, Known(run, {item.key: item.after for item in changes}))
    try:
        before: object = _in_kind(other.name, _convert(other, change.before, Known(run, {})))
    except CannotWrite:
        before = None
    try:
        return Assignment(key, before, _in_kind(other.name, after))
    except CannotWrite:
        raise CannotWrite(
            f"{change.key} {change.after} cannot be set exactly: {key} would have to be {after:g}"
        ) from None


def _convert(other: Equivalent, value: object, known: Known) -> float:
    size = number(value)
    if size is None:
        raise CannotWrite(f"{value!r} is no number, so it cannot be converted to {other.name}")
    try:
        converted = other.convert(size, known)
    except (ZeroDivisionError, ValueError, OverflowError):
        raise CannotWrite(f"{value!r} cannot be converted to {other.name}") from None
    return float(math.ceil(converted)) if other.rounds_up else converted


def _rollout(known: Known) -> float:
    setting = known.run.config.settings.get("rollout_size")
    is_own = setting is not None and not setting.is_default and not setting.is_derived
    if is_own or "rollout_size" in known.changed:
        return known("rollout_size")
    # The changes may hold the parts of a rollout, so these come before the derived size.
    try:
        return known("n_steps") * known("n_envs")
    except CannotWrite:
        return known("rollout_size")


def _steps_per(known: Known, unit: str) -> float:
    """Env steps of one update or epoch, as the framework's own table derives its budget."""
    for rule in framework(known.run.framework).derived:
        if rule.name == "total_steps" and unit in rule.multiply:
            return math.prod(known(name) for name in rule.multiply if name != unit)
    return _rollout(known)


def _in_kind(name: str, value: object) -> object:
    """Whole numbers stay whole: `64.0` for a batch size is 64; 64.5 is an error."""
    entry = hyperparameters().get(name)
    is_whole = name in BUDGETS or (entry is not None and entry.kind == "integer")
    if not is_whole or not isinstance(value, float):
        return value
    if not value.is_integer():
        raise CannotWrite(f"{name} must be a whole number, not {value:g}")
    return int(value)


def _table(run: Run, name: str) -> list[str]:
    """Keys of the framework's table that mean this hyperparameter for the run's algorithm, most usual first."""
    found = _keys_by_name(run.framework, run.algorithm).get(name, ())
    if len(found) < 2:
        return list(found)
    # Versions nest differently; a section that the user's config has is the right one.
    sections = {key.rpartition(".")[0] for key in run.config.native}
    return sorted(found, key=lambda key: key.rpartition(".")[0] not in sections)


@lru_cache(maxsize=256)
def _keys_by_name(framework_id: str, algorithm: str) -> Mapping[str, list[str]]:
    table = framework(framework_id).hyperparameters
    found: dict[str, list[str]] = {}
    for key in table:
        match = table.find(key)
        for entry in match[1] if match is not None and "*" not in key else ():
            if not entry.algorithms or algorithm in entry.algorithms:
                found.setdefault(entry.name, []).append(key)
                break
    return found


def _by_algorithm(table: Mapping[str, str], name: str, run: Run) -> str:
    return table.get(f"{name}@{run.algorithm}", table.get(name, ""))


def _before(convert: Callable[[object], object], value: object) -> object:
    try:
        return convert(value)
    except CannotWrite:
        return None


def _reason_computed(run: Run, name: str, names: Names) -> str:
    setting = run.config.settings.get(name)
    keys = [setting.native_key if setting is not None else "", *_table(run, name)]
    reason = next((found for key in keys if (found := _by_algorithm(names.computed, key, run))), "")
    return f": {reason}" if reason else ""
