"""From a run, and what to change in it, to the plan of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlclinic.lab.assemble import Carried
from rlclinic.lab.backend import backend_for
from rlclinic.lab.carry import carry, logged_rate
from rlclinic.lab.derive import REPLACES
from rlclinic.lab.values import parse_override, plain
from rlclinic.model.errors import UsageError
from rlclinic.model.prescription import Change, Prescription, PrescriptionKind
from rlclinic.model.run import Run
from rlclinic.model.trial import BASELINE
from rlclinic.prescriptions.proposals.native_settings import BUDGETS
from rlclinic.reference.tasks import task_of
from rlclinic.trials.command import OWN, check_places, check_value, placeholders
from rlclinic.trials.plan import Arm, TrialPlan, arm_names

# Seeds of an arm: with five, one bad seed does not decide.
DEFAULT_SEEDS = 5


def plan_trial(
    run: Run,
    prescriptions: Sequence[Prescription] = (),
    *,
    overrides: Sequence[str] = (),
    seeds: int = DEFAULT_SEEDS,
    budget: int | None = None,
    command: str = "",
    trust: Sequence[str] = (),
) -> TrialPlan:
    """A trial of each prescription, or of the overrides (`key=value`) together, against the run as it was.

    Of the code that the run's config names only `trust` is imported.

    Raises:
        UsageError: There is nothing that a trial could change, or the run cannot be trained again.
    """
    if command:
        return _with_command(run, prescriptions, overrides, seeds, budget, command)
    carried = carry(run, trust)
    recipe = carried.recipe
    arms = _arms(_chosen(prescriptions) or [_overridden(carried, overrides)])
    for arm in arms:
        _check(carried, arm)
    return TrialPlan(
        run=run.id,
        environment=recipe.environment,
        algorithm=recipe.algorithm,
        arms=(Arm(BASELINE), *arms),
        seeds=_seeds(recipe.seed, seeds),
        budget=budget or recipe.total_steps,
        threshold=recipe.threshold,
        # A lucky evaluation must not end a run whose stability is in question.
        config={**recipe.to_config(), "stop_at_threshold": False},
        notes=tuple(f"not carried over: {sentence}" for sentence in carried.left_out),
        trust=tuple(trust),
    )


def testable(prescription: Prescription) -> bool:
    """Whether a trial can answer for it: config changes, and not only a longer budget."""
    keys = {change.key for change in prescription.changes}
    return prescription.kind is PrescriptionKind.CONFIG and bool(keys) and not keys <= BUDGETS


def _chosen(prescriptions: Sequence[Prescription]) -> list[tuple[tuple[Change, ...], tuple[str, ...]]]:
    return [(item.changes, item.causes) for item in prescriptions if testable(item)]


def _arms(changes: Sequence[tuple[tuple[Change, ...], tuple[str, ...]]]) -> tuple[Arm, ...]:
    # Two prescriptions with the same change are one arm, which answers for the causes of both.
    merged: dict[str, tuple[tuple[Change, ...], tuple[str, ...]]] = {}
    for what, causes in changes:
        mark = repr(sorted((change.key, repr(change.after)) for change in what))
        known = merged.get(mark, (what, ()))
        merged[mark] = known[0], tuple(dict.fromkeys((*known[1], *causes)))
    names = arm_names(len(merged))
    return tuple(Arm(name, what, causes) for name, (what, causes) in zip(names, merged.values(), strict=True))


def _overridden(carried: Carried, overrides: Sequence[str]) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    recipe = carried.recipe
    if not overrides:
        raise UsageError(
            "nothing to try: the diagnosis has no config change for this run", hint="name one with --change key=value"
        )
    takes = backend_for(recipe.framework).hyperparameters(recipe.algorithm)
    known = (*takes, *(name for name, replaced in REPLACES.items() if set(replaced) <= set(takes)))
    config = recipe.to_config()
    changes = []
    for text in overrides:
        key, value = parse_override(text, recipe.algorithm, known, (recipe.framework, "gymnasium-solver"))
        changes.append(Change(key, key, config.get(key, takes.get(key)), value))
    return tuple(changes), ()


def _check(carried: Carried, arm: Arm) -> None:
    """An arm that could not be trained, or that changes nothing, is told before anything is trained."""
    recipe = carried.recipe
    budgets = sorted({change.key for change in arm.changes} & BUDGETS)
    if budgets:
        raise UsageError(
            f"{', '.join(budgets)}: every arm of a trial has the same budget", hint="train longer with --budget"
        )
    changed = recipe.with_changes({change.key: change.after for change in arm.changes})
    if changed == recipe:
        raise UsageError(f"{arm.name} changes nothing: the run already has these values")
    backend_for(changed.framework).check(changed)


def _with_command(
    run: Run,
    prescriptions: Sequence[Prescription],
    overrides: Sequence[str],
    seeds: int,
    budget: int | None,
    command: str,
) -> TrialPlan:
    names = placeholders(command)
    check_places(command)
    values = {name: run.config.get(name) for name in names if name in run.config}
    values |= {name: run.config.native[name].value for name in names if name in run.config.native}
    logged = logged_rate(run)
    if logged is not None and "learning_rate" in names:
        values["learning_rate"] = logged
    chosen = _chosen(prescriptions)
    from_run = [*values.items(), *((change.key, change.after) for changes, _ in chosen for change in changes)]
    for name, value in from_run:
        check_value(name, value)
    arms = _arms(chosen or [(_plain_changes(overrides, values), ())])
    for arm in arms:
        unused = [change.key for change in arm.changes if change.key not in names]
        if unused:
            raise UsageError(
                f"--command has no place for {', '.join(unused)}",
                hint=f"write {{{unused[0]}}} where its value belongs, for example --{unused[0]} {{{unused[0]}}}",
            )
    missing = [name for name in names if name not in values and name not in OWN]
    if missing:
        raise UsageError(
            f"--command: the run's config has no value for {', '.join(missing)}",
            hint="put it into a config.yaml beside the logs, or into the command where the change does not touch it",
        )
    if budget is None and not (run.budget or run.steps):
        raise UsageError("the run's budget is not known", hint="name it with --budget")
    return TrialPlan(
        run=run.id,
        environment=run.environment,
        algorithm=run.algorithm,
        arms=(Arm(BASELINE), *arms),
        seeds=_seeds(0, seeds),
        budget=budget or int(run.budget or run.steps),
        threshold=_threshold(run),
        config=values,
        command=command,
        notes=() if "seed" in names else ("the command takes no {seed}: the runs of an arm may not differ",),
    )


def _plain_changes(overrides: Sequence[str], values: dict[str, object]) -> tuple[Change, ...]:
    if not overrides:
        raise UsageError(
            "nothing to try: the diagnosis has no config change for this run", hint="name one with --change key=value"
        )
    changes = []
    for text in overrides:
        key, separator, written = text.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"--change {text!r}", hint="write key=value, for example learning_rate=3e-4")
        changes.append(Change(key.strip(), key.strip(), values.get(key.strip()), plain(written.strip())))
    return tuple(changes)


def _threshold(run: Run) -> float | None:
    task: Any = task_of(run.environment) if run.environment else None
    return run.threshold if run.threshold is not None else (task.threshold if task is not None else None)


def _seeds(first: int, count: int) -> tuple[int, ...]:
    if count < 1:
        raise UsageError(f"--seeds {count}", hint="at least one; three or more decide something")
    return tuple(range(first, first + count))
