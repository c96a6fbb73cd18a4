"""From changes to the new text of the user's config file, checked and proven; nothing is written here."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.prescription import Change
from rlclinic.model.run import Run
from rlclinic.prescriptions.edit.document import FORMATS, document_data, edit_document, has_value
from rlclinic.prescriptions.edit.edits import MISSING, Edit, Refused, agrees, check_before
from rlclinic.prescriptions.edit.python_file import edit_python
from rlclinic.prescriptions.edit.section import inherited, section_of
from rlclinic.prescriptions.edit.shell_file import edit_shell
from rlclinic.prescriptions.edit.source_file import MAX_BYTES, SHELL, Source, find_source
from rlclinic.prescriptions.syntax import Assignment, CannotWrite, assignments, dialects_of
from rlclinic.prescriptions.syntax.assignment import Code
from rlclinic.prescriptions.syntax.rllib import METHODS, PYTHON_KEYS
from rlclinic.prescriptions.syntax.sb3_names import CLASSES
from rlclinic.prescriptions.syntax.sb3_python import CALLS, FILE
from rlclinic.prescriptions.syntax.sb3_python import DIALECT as PYTHON
from rlclinic.readers.configs.normalise import meaning
from rlclinic.readers.discover import split_name
from rlclinic.readers.no_links import read_file
from rlclinic.readers.redaction.redact import redact
from rlclinic.reference.framework import framework

NO_END = "\\ No newline at end of file\n"

# Frameworks that read the config file themselves, so that a new key has its effect; of other scripts that is not known.
READS_ITS_FILES = ("gymnasium-solver", "sb3-zoo", "rsl_rl", "skrl", "rllib", "mlagents")


@dataclass(frozen=True, slots=True)
class Plan:
    """A file before and after."""

    file: Path
    before: str
    after: str
    edits: tuple[Edit, ...]
    note: str = ""

    @property
    def diff(self) -> str:
        """The change as a unified diff; secrets in the lines around it are left out."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.file.name}",
            f"b/{self.file.name}",
        )
        return redact("".join(line if line.endswith("\n") else f"{line}\n{NO_END}" for line in lines))


def plan(run: Run, changes: Sequence[Change], config: str = "") -> Plan:
    """The edit of the user's own config; Refused or CannotWrite with the reason where it is not sure."""
    wanted = _assignments(run, changes, is_script=split_name(config)[0].endswith(".py"))
    source = find_source(run, tuple(item.key for item in wanted), config)
    text = _text(source.file)
    if source.file.suffix == ".py":
        edits = [_edit(run, item, tuple(_python_key(run, item.key).split("."))) for item in wanted]
        after = edit_python(text, edits, [_call(run, item.key) for item in wanted])
    elif source.file.suffix in SHELL:
        edits = [_edit(run, item, tuple(item.key.split("."))) for item in wanted]
        after = edit_shell(text, edits)
    elif source.file.suffix in FORMATS:
        edits = _document_edits(run, wanted, source, text)
        after = edit_document(text, edits, source.file.suffix)
    else:
        raise Refused("only YAML, JSON, TOML, Python and shell files are edited", path=str(source.file))
    if after == text:
        raise Refused("the file already has these values", path=str(source.file))
    return Plan(source.file, text, after, tuple(edits), source.note)


def _assignments(run: Run, changes: Sequence[Change], *, is_script: bool) -> tuple[Assignment, ...]:
    """In the dialect of files rather than of flags, which can say less."""
    failure: CannotWrite | None = None
    dialects = sorted(dialects_of(run), key=lambda item: item.id.endswith("flags"))
    if dialects[0] is PYTHON and not is_script:
        dialects = [replace(FILE, refuses=PYTHON.refuses)]
    for dialect in dialects:
        try:
            return assignments(run, changes, dialect)
        except CannotWrite as error:
            failure = failure or error
    raise failure or CannotWrite("there is nothing to change")


def _document_edits(run: Run, wanted: Sequence[Assignment], source: Source, text: str) -> list[Edit]:
    data = document_data(text, source.file.suffix)
    keys = tuple(_as_written(data, item.key.removeprefix(source.prefix), run) for item in wanted)
    section = section_of(data, keys, run, source.section)
    edits = []
    for item, key in zip(wanted, keys, strict=True):
        if isinstance(item.after, Code) and "." not in key:
            raise Refused(f"{key} needs code, not a value: {item.after}", hint="make the change by hand")
        edit = _edit(run, item, (*section, *key.split(".")))
        base = inherited(data, section, key, run)
        check_before(edit, base)
        if edit.was_set and base is MISSING and not has_value(data, edit.path):
            raise Refused(
                f"the file has no {key}, but the run had {edit.before!r}, no default",
                hint="name the file that the run was made with, or make the change by hand",
            )
        if run.framework not in READS_ITS_FILES and not has_value(data, edit.path):
            raise Refused(f"the file has no {key}, and it is not sure that the script would read it")
        edits.append(edit)
    return edits


def _edit(run: Run, item: Assignment, path: tuple[str | int, ...]) -> Edit:
    before = MISSING if item.before is None else item.before
    name = meaning(item.key, (framework(run.framework), framework("common")), run.algorithm)
    version = run.config.get("framework_version")
    defaults = framework(run.framework).defaults_for(run.algorithm, str(version or ""))
    was_set = name in defaults and before is not MISSING and not agrees(defaults[name], before)
    return Edit(path, before, item.after, _other_names(run.framework, run.algorithm, item.key), was_set)


@lru_cache(maxsize=256)
def _other_names(framework_id: str, algorithm: str, key: str) -> frozenset[str]:
    """What scripts call the same setting, as the tables of the framework and the common ones know it."""
    tables = (framework(framework_id), framework("common"))
    name = meaning(key, tables, algorithm)
    if not name:
        return frozenset()
    keys = [
        (other, entry) for table in tables for other in table.hyperparameters for entry in table.hyperparameters[other]
    ]
    found = {other.lower() for other, entry in keys if entry.name == name and other.isidentifier()}
    return frozenset({*found, name} - {key.lower()})


def _as_written(data: object, key: str, run: Run) -> str:
    """The key as the file has it: its own name, or the one other name of the same setting that stands there."""
    own = {str(name) for name in _names(data)}
    if key.rpartition(".")[2] in own or "." in key:
        return key
    others = {name for name in own if name.lower() in _other_names(run.framework, run.algorithm, key)}
    return others.pop() if len(others) == 1 else key


def _names(data: object) -> Iterator[object]:
    for name, value in data.items() if isinstance(data, Mapping) else ():
        yield name
        yield from _names(value)


def _python_key(run: Run, key: str) -> str:
    return PYTHON_KEYS.get(key, key) if run.framework == "rllib" else key


def _call(run: Run, key: str) -> str:
    """The call that takes the argument, where one is known by name."""
    head = key.partition(".")[0]
    if run.framework == "rllib":
        return METHODS.get(head, "training")
    if run.framework == "sb3":
        constructor = CLASSES.get(run.algorithm, run.algorithm)
        return CALLS.get(head, constructor).rpartition(".")[2]
    return ""


def _text(file: Path) -> str:
    try:
        return read_file(file, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("the file is not UTF-8 text", path=str(file)) from None
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}", path=str(file)) from None
