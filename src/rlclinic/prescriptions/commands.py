"""What to type after a diagnosis: commands that exist, with the options that name the run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence

from rlclinic.causes.components import is_stock
from rlclinic.model.diagnosis import Cause, Commands
from rlclinic.model.errors import RlclinicError
from rlclinic.model.goal import Goal
from rlclinic.model.prescription import Prescription, PrescriptionKind, Safety
from rlclinic.model.run import Run
from rlclinic.prescriptions.proposals.native_settings import BUDGETS
from rlclinic.prescriptions.wording import examine_command
from rlclinic.reference.algorithms import TRAINED
from rlclinic.reference.reference_configs import has_reference_config
from rlclinic.reference.tasks import examinable, task_of

# Two causes are told apart by trying the changes for both, where the second is at least this likely.
RIVAL = 0.1
BUG = "implementation-bug"
# Stands for the user's own command, of which only its places are known.
YOUR_COMMAND = "python train.py"
ENTRY = dict.fromkeys(("verl", "search-r1"), "python3 -m verl.trainer.main_ppo")
HYDRA = "hydra-overrides"
# And for the overrides of a run whose own are not known.
YOUR_OVERRIDES = "YOUR_OVERRIDES"
PROCESS = "process"
"""Class of causes that say themselves where to look: an error, a setting that a trainer rejects, a stopped process."""
# Where overrides were typed: in a script, or where Hydra keeps them.
WRITTEN, OVERRIDES = ("script", "open"), "overrides.yaml"
# What a shell leaves alone.
PLAIN = re.compile(r"[A-Za-z0-9_.:/+@%-]+")


def commands_of(
    run: Run, prescriptions: Sequence[Prescription], causes: Sequence[Cause], goal: Goal | None
) -> Commands:
    """The commands that fit a diagnosed run."""
    name = _name(run)
    number, change = next(
        ((index, item) for index, item in enumerate(prescriptions, start=1) if _is_config(item)), (0, None)
    )
    leads = change is not None and number == 1
    # What is to be changed by hand comes first: a later change of the config is not how to apply it.
    by_hand = bool(prescriptions) and prescriptions[0].kind not in {PrescriptionKind.CONFIG, PrescriptionKind.CHECK}
    change = None if by_hand else change
    task = f"{run.algorithm} on {run.environment}"
    known = task_of(run.environment) is not None and _lab_trains(run) and _has_entry(run)
    after = f"rlclinic compare {shlex.quote(run.path)} NEW_RUN" if prescriptions and run.path else ""
    return Commands(
        apply=_apply(run, change, number, name) if change is not None and run.path else "",
        prove=_prove(run, [change], name) if change is not None and run.path and _is_testable(change) else after,
        test="" if leads else _test(run, prescriptions, causes, name),
        ask=f"rlclinic diagnose {name}" if run.path else "",
        judge=f"rlclinic diagnose {name} --goal RETURN" if goal is None and run.path else "",
        known_good=f"rlclinic train {shlex.quote(f'{examinable(run.environment)}:{run.algorithm}')}" if known else "",
        known_good_for=task if known else "",
    )


def _name(run: Run) -> str:
    return " ".join([shlex.quote(run.path), *(shlex.quote(word) for word in run.given)])


def _apply(run: Run, change: Prescription, number: int, name: str) -> str:
    """`fix` with what it asks for before it writes; the config is the user's to name where none is found."""
    from rlclinic.prescriptions.edit.plan import plan

    options = [f"--prescription {number}"] if number > 1 else []
    options += ["--unsafe"] if change.safety is not Safety.SAFE else []
    named = "--config" in run.given
    try:
        plan(run, change.changes, run.given[run.given.index("--config") + 1] if named else "")
    except RlclinicError:
        options += [] if named else ["--config FILE"]
    return " ".join(["rlclinic fix", name, *options, "--write"])


def _prove(run: Run, changes: Sequence[Prescription], name: str) -> str:
    count = f" --prescriptions {len(changes)}" if len(changes) > 1 else ""
    if _lab_trains(run) and task_of(run.environment) is not None:
        return f"rlclinic trial {name}{count}"
    keys = {change.key: change.native_key for item in changes for change in item.changes}
    if all(item.native is not None and item.native.format == HYDRA for item in changes):
        named = {**{native: key for key, native in keys.items()}, "++data.seed": "seed", "hydra.run.dir": "logdir"}
        places = " ".join([*_typed(run, named), *(f"{native}={{{key}}}" for native, key in named.items())])
    else:
        places = " ".join(f"--{key} {{{key}}}" for key in [*keys, "seed", "logdir"])
    return f'rlclinic trial {name}{count} --command "{ENTRY.get(run.framework, YOUR_COMMAND)} {places}"'


def _typed(run: Run, named: Iterable[str]) -> list[str]:
    """The overrides that the run was started with, but for those that vary. A trial of verl needs its data and model.

    A key that is not known may be one that Hydra's config lacks: `++` adds it. What is no plain word stays for the
    user to fill in: the line is pasted into a shell.
    """
    known = {setting.native_key for setting in run.config.settings.values() if setting.key != setting.native_key}
    typed = [
        (setting.native_key, setting, "" if setting.native_key in known else "++")
        for setting in run.config.native.values()
        if setting.origin is not None and (setting.origin.basis in WRITTEN or setting.origin.file.endswith(OVERRIDES))
    ]
    found = [
        f"{added}{key}={text if (text := _plain(setting.value)) and not setting.is_open else 'VALUE'}"
        for key, setting, added in typed
        if key not in named and key != "data.seed" and PLAIN.fullmatch(key)
    ]
    return found or [YOUR_OVERRIDES]


def _plain(value: object) -> str:
    """A value as Hydra reads it back, or nothing."""
    items = value if isinstance(value, list | tuple) else [value]
    texts = ["null" if item is None else str(item) for item in items]
    if not all(PLAIN.fullmatch(text) for text in texts):
        return ""
    return texts[0] if items is not value else f"[{','.join(texts)}]"


def _test(run: Run, prescriptions: Sequence[Prescription], causes: Sequence[Cause], name: str) -> str:
    """The changes for the two leading causes against each other, else the environment by itself; the user's own
    trainer comes after that, and that of a library last: it has passed its tests."""
    if prescriptions and prescriptions[0].kind is PrescriptionKind.ENVIRONMENT and not run.is_language_model:
        return examine_command(run, departs=True)
    likely = {cause.id for cause in causes if cause.probability >= RIVAL}
    rivals = [item for item in prescriptions if _is_testable(item) and likely & set(item.causes)][:2]
    if rivals and run.path:
        return _prove(run, rivals, name)
    if run.is_language_model or (causes and causes[0].cause_class == PROCESS):
        return ""
    if BUG in likely and not is_stock(run.framework):
        return "rlclinic probe MODULE:make_trainer"
    return examine_command(run)


def _is_config(item: Prescription) -> bool:
    return item.kind is PrescriptionKind.CONFIG


def _is_testable(item: Prescription) -> bool:
    """A trial gives every arm the same budget."""
    return _is_config(item) and not {change.key for change in item.changes} <= BUDGETS


def _lab_trains(run: Run) -> bool:
    return any(run.algorithm in names for names in TRAINED.values())


def _has_entry(run: Run) -> bool:
    return has_reference_config(run.environment, run.algorithm)
