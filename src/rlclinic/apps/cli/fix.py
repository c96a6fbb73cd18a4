"""`rlclinic fix`: the prescribed change in the user's own config file."""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlclinic.apps.cli.output import write_json, write_lines
from rlclinic.apps.cli.reading import FILE, goal_option, task_options
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import ExitCode, NothingReadable, RlclinicError, UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Prescription, PrescriptionKind, Safety
from rlclinic.model.run import Run

if TYPE_CHECKING:
    from rlclinic.prescriptions.edit.plan import Plan


@dataclass(slots=True)
class FixResult:
    """What was decided, for text and JSON alike."""

    run: Run
    number: int | None = None
    prescription: Prescription | None = None
    plan: Plan | None = None
    reason: str = ""
    """Why no file was edited."""
    hint: str = ""
    first: list[str] = field(default_factory=list)
    """What comes before the chosen prescription and cannot be done here."""
    held: str = ""
    """Why the change is shown, but not written."""
    native: tuple[str, str] | None = None
    backup: Path | None = None
    by_hand: list[str] = field(default_factory=list)
    guidelines: list[str] = field(default_factory=list)


@click.command()
@click.argument("name", metavar="RUN", default="@last")
@click.option("--diff", "action", flag_value="diff", default="diff", help="Print the change; the default.")
@click.option("--write", "action", flag_value="write", help="Write it, with a backup FILE.bak.")
@click.option("--prescription", "number", type=click.IntRange(min=1), help="Which one, as numbered by `diagnose`.")
@goal_option
@click.option("--config", default="", metavar="FILE[::SECTION]", help="The config file to edit.")
@task_options
@click.option("--unsafe", is_flag=True, help="Write also what alters behaviour or the learning problem.")
@click.option("--root", type=FILE, help="Where ids and @last are looked up; runs/ or here by default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def fix(
    name: str,
    action: str,
    number: int | None,
    goal: float | None,
    config: str,
    environment: str,
    algorithm: str,
    unsafe: bool,
    root: Path | None,
    as_json: bool,
) -> None:
    """Make the prescribed change in your own config file: only the changed values, comments and formatting stay.

    The file is the one the run was made from, where it can be found; --config names it otherwise, SECTION being the
    environment or variant in it. YAML, JSON, TOML and Python files and shell scripts are edited. What is not sure is
    refused, and the change is printed in the syntax of the framework instead. A change that waits for something done
    by hand is written only when its number is named. Exit codes: 0 done or nothing to fix, 2 refused or a usage error,
    5 nothing could be read.
    """
    task = environment, algorithm
    result, code = decide(name, root, number, config, unsafe=unsafe, writes=action == "write", goal=goal, task=task)
    if as_json:
        write_json(fix_object(result))
    else:
        write_lines([_text(result)])
    click.get_current_context().exit(int(code))


def decide(
    name: str,
    root: Path | None,
    number: int | None,
    config: str,
    *,
    unsafe: bool,
    writes: bool,
    goal: float | None = None,
    task: tuple[str, str] = ("", ""),
) -> tuple[FixResult, ExitCode]:
    """What to change in which file; written only where `writes` says so."""
    return decided(_diagnosis(name, root, goal, config, task), number, config, unsafe=unsafe, writes=writes)


def decided(
    diagnosis: Diagnosis, number: int | None, config: str, *, unsafe: bool, writes: bool
) -> tuple[FixResult, ExitCode]:
    """The same for a run that is diagnosed."""
    from rlclinic.prescriptions.edit.plan import plan
    from rlclinic.prescriptions.edit.write_file import write_file
    from rlclinic.prescriptions.syntax import render

    result = FixResult(diagnosis.run, guidelines=list(diagnosis.guidelines))
    result.by_hand = [item.instruction for item in diagnosis.prescriptions if item.kind != PrescriptionKind.CONFIG]
    _choose(diagnosis, number, result)
    chosen = result.prescription
    if chosen is None:
        return result, ExitCode.OK
    _hold_back(result, unsafe=unsafe)
    try:
        native = render(diagnosis.run, chosen.changes, script=config.endswith(".py"))
        result.native = native.format, native.text
    except RlclinicError as error:
        result.reason, result.hint = error.message, error.hint
    try:
        result.plan = plan(diagnosis.run, chosen.changes, config)
        result.reason = ""
        if writes and not result.held:
            result.backup = write_file(result.plan)
    except RlclinicError as error:
        where = f"{error.path}: " if error.path else ""
        result.reason, result.hint = f"{where}{error.message}", error.hint
        # A file that the user named, or asked to be written, and that stays as it is, is a refusal.
        return result, ExitCode.ERROR if writes or config else ExitCode.OK
    return result, ExitCode.ERROR if writes and result.held else ExitCode.OK


def _diagnosis(name: str, root: Path | None, goal: float | None, config: str, task: tuple[str, str]) -> Diagnosis:
    from rlclinic.engine import diagnose
    from rlclinic.readers.open import read
    from rlclinic.readers.scripts.load import CODE
    from rlclinic.store.names import resolve

    paths = resolve(name, root=root)
    if len(paths) > 1:
        raise UsageError(f"{name!r} names {len(paths)} runs", path=name, hint="one run is fixed at a time")
    scripts = (config,) if config.endswith(CODE) and Path(config).is_file() else ()
    diagnosis = diagnose(read(paths[0], configs=scripts, environment=task[0], algorithm=task[1]), goal=goal)
    # A run that died before its first row can still show what is wrong with its config.
    changes = any(item.changes for item in diagnosis.prescriptions)
    if not changes and not any(len(series) for series in diagnosis.run.series.values()):
        raise NothingReadable("no metric could be read, so nothing is known to be wrong", path=paths[0])
    return diagnosis


def _choose(diagnosis: Diagnosis, number: int | None, result: FixResult) -> None:
    """The named prescription, or the first that a config can hold."""
    known = list(enumerate(diagnosis.prescriptions, start=1))
    if number is not None:
        if number > len(known):
            raise UsageError(f"there is no prescription {number} of {len(known)}", hint="see `rlclinic diagnose`")
        chosen = diagnosis.prescriptions[number - 1]
        if chosen.kind != PrescriptionKind.CONFIG:
            raise UsageError(
                f"prescription {number} is not a config change: {chosen.instruction}", hint="do it by hand"
            )
        result.number, result.prescription = number, chosen
        return
    configs = [(index, item) for index, item in known if item.kind == PrescriptionKind.CONFIG]
    if not configs:
        result.reason = f"no config change is prescribed; the verdict is {diagnosis.verdict}"
        return
    result.number, result.prescription = configs[0]
    result.first = [item.instruction for index, item in known if index < result.number]


def _hold_back(result: FixResult, *, unsafe: bool) -> None:
    """What is unsafe, or waits for something else, is written only when the user says so."""
    chosen = result.prescription
    assert chosen is not None
    reasons, options = [], []
    if result.first:
        reasons.append("something else comes first")
        options.append(f"--prescription {result.number}")
    if chosen.safety != Safety.SAFE and not unsafe:
        reasons.append(f"it is {chosen.safety}: {_begun(chosen.risk)}")
        options.append("--unsafe")
    result.held = ", and ".join(reasons)
    result.hint = f"write it all the same with {' '.join(options)}" if options else ""


def _begun(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def _text(result: FixResult) -> str:
    lines: list[str] = []
    chosen = result.prescription
    if chosen is not None:
        lines.append(f"Prescription {result.number}: {chosen.instruction}")
        lines += ["", "First, by hand:", *(f"  - {item}" for item in result.first)] if result.first else []
    if chosen is None:
        lines.append(f"Nothing to fix in a config: {result.reason}.")
    elif result.plan is not None and not result.reason:
        lines += ["", result.plan.diff.rstrip("\n"), "", _state(result, result.plan)]
        lines += [f"  {result.hint}"] if result.held else []
        lines += [f"Note: {result.plan.note}."] if result.plan.note else []
    else:
        lines += ["", f"No file was edited: {result.reason}."]
        lines += [f"  {result.hint}"] if result.hint else []
        if result.native is not None:
            form, text = result.native
            lines += ["", f"The change as {form}:", *(f"  {line}" for line in text.splitlines())]
    others = [item for item in result.by_hand if item not in result.first]
    lines += ["", "By hand:", *(f"  - {item}" for item in others)] if others else []
    lines += [f"This project has guidelines: {', '.join(result.guidelines)}"] if result.guidelines else []
    return "\n".join(lines)


def _state(result: FixResult, plan: Plan) -> str:
    if result.backup is not None:
        return f"Written to {os.path.normpath(plan.file)}; the old file is {result.backup}."
    if result.held:
        return f"Not written: {result.held}."
    return f"Not written yet: --write changes {os.path.normpath(plan.file)}."


def fix_object(result: FixResult) -> dict[str, Any]:
    """The result as `--json` prints it."""
    chosen, plan = result.prescription, result.plan
    return {
        "schema": "rlclinic.fix/1",
        "run": {"id": result.run.id, "path": result.run.path, "framework": result.run.framework},
        "prescription": None
        if chosen is None
        else {
            "number": result.number,
            "instruction": chosen.instruction,
            "safety": str(chosen.safety),
            "changes": [
                {"key": item.key, "native_key": item.native_key, "from": item.before, "to": item.after}
                for item in chosen.changes
            ],
        },
        "native": None if result.native is None else {"format": result.native[0], "text": result.native[1]},
        "file": None if plan is None else str(plan.file),
        "diff": "" if plan is None else plan.diff,
        "written": result.backup is not None,
        "backup": None if result.backup is None else str(result.backup),
        "reason": result.reason or result.held,
        "hint": result.hint,
        "note": "" if plan is None else plan.note,
        "first": result.first,
        "by_hand": result.by_hand,
        "guidelines": result.guidelines,
    }
