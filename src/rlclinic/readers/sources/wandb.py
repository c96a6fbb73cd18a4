"""A local Weights & Biases run folder: the binary log first, the files beside it for the rest."""

from __future__ import annotations

import re

from rlclinic.model.numbers import number
from rlclinic.model.run import Status
from rlclinic.readers.columns import from_sparse, without
from rlclinic.readers.consoles.config_commands import argument_settings
from rlclinic.readers.draft import TOLD, Draft, RawTable
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import clean_lines, decode
from rlclinic.readers.formats.wandb.wandb_log import WandbLog, read_wandb_file
from rlclinic.readers.formats.yaml.safe_yaml import load_yaml
from rlclinic.readers.parts.json_files import load_object
from rlclinic.readers.parts.logs import read_log
from rlclinic.readers.place import Entry
from rlclinic.readers.sources.files import read_configs, read_event_files
from rlclinic.readers.status import log_clues

_FOLDER = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-(?P<id>\w+)")


def read(draft: Draft) -> None:
    """Read the run's history, config, console text and how it ended."""
    draft.source = "wandb"
    named = _FOLDER.fullmatch(draft.place.folder.name)
    draft.name = named["id"] if named else draft.name
    for entry in draft.place.match("*.wandb"):
        _binary_log(draft, entry)
    _config_file(draft)
    read_configs_beside(draft)
    _metadata(draft)
    for entry in draft.place.match("files/output.log"):
        read_log(draft, entry)
    read_event_files(draft)
    if not draft.clues and not draft.place.match("*.wandb"):
        draft.note("no .wandb file: the history comes from the console text, how the run ended is not recorded")


def read_configs_beside(draft: Draft) -> None:
    """Hydra folders and other configs that lie in the run folder."""
    settings = len(draft.settings)
    if not settings:
        read_configs(draft)


def _binary_log(draft: Draft, entry: Entry) -> None:
    try:
        log = read_wandb_file(entry)
    except OSError as error:
        draft.note(f"{entry.relative}: {error.strerror}")
        return
    draft.used(entry, "wandb")
    draft.problems(entry.relative, log.problems)
    draft.document(dict(log.config), entry.relative)
    run_id = log.run.get("run_id")
    draft.name = str(run_id) if run_id else draft.name
    draft.labels += [str(log.run[key]) for key in ("display_name", "run_group", "project") if log.run.get(key)]
    started = number(log.run.get("start_time"))
    if started is not None:
        draft.started_at = started
        draft.ended_at = draft.started_at + log.runtime if log.runtime else None
    _history(draft, log, entry.relative)
    if log.output:
        lines = clean_lines(log.output.encode())
        draft.log(lines, entry.relative)
        log_clues(draft, lines, entry.relative)
        draft.log_marks.extend(lines[:200])
    _exit(draft, log, entry.relative)


def _history(draft: Draft, log: WandbLog, source: str) -> None:
    if not log.rows:
        draft.note(f"{source}: no history record: nothing was logged")
        return
    table = from_sparse({name: (column.rows, column.values) for name, column in log.history.items()}, log.rows)
    times = table.numbers.get("_timestamp")
    draft.tables.append(RawTable(without(table, "_timestamp", "_runtime"), source, None, times))


def _exit(draft: Draft, log: WandbLog, source: str) -> None:
    if log.exit_code is None:
        draft.note(f"{source}: no exit record: the run was killed or is still running")
        return
    if log.exit_code == 0:
        draft.clue(Status.FINISHED, f"{source}: exit code 0", TOLD)
    elif log.exit_code in (130, 255):
        draft.clue(Status.INTERRUPTED, f"{source}: exit code {log.exit_code}", TOLD)
    else:
        crash = next((clue for clue in draft.clues if clue.state is Status.CRASHED), None)
        detail = f" ({crash.reason})" if crash else ""
        draft.clue(Status.CRASHED, f"{source}: exit code {log.exit_code}{detail}", TOLD)


def _config_file(draft: Draft) -> None:
    """files/config.yaml wraps each value: `key: {desc: ..., value: ...}`."""
    entry = draft.place.first("files/config.yaml")
    if entry is None:
        return
    try:
        document = load_yaml(decode(entry.read(8 << 20)))
    except (FormatError, OSError) as error:
        draft.note(f"{entry.relative}: {error}")
        return
    draft.used(entry, "config")
    for key, wrapped in document.data.items() if isinstance(document.data, dict) else ():
        if isinstance(wrapped, dict) and "value" in wrapped and key not in {"_wandb", "wandb_version"}:
            line = document.lines.get((str(key), "value"))
            if isinstance(wrapped["value"], dict):
                draft.document(wrapped["value"], entry.relative, prefix=f"{key}.")
            else:
                draft.setting(str(key), wrapped["value"], entry.relative, line)


def _metadata(draft: Draft) -> None:
    entry = draft.place.first("files/wandb-metadata.json")
    if entry is None:
        return
    data = load_object(draft, entry, "metadata")
    if isinstance(data.get("program"), str):
        draft.program = data["program"]
        draft.log_marks.append(draft.program)
    arguments = data.get("args")
    if isinstance(arguments, list):
        # What the program resolved and logged counts more than what was typed, and that more than any script.
        given = argument_settings([str(item) for item in arguments])
        draft.typed |= given.keys() - draft.settings.keys()
        for key, value in given.items():
            draft.setting(key, value, entry.relative)
