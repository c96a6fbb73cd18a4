"""An RLlib or Ray Tune trial folder: result.json, progress.csv, params.json, event files, error.txt."""

from __future__ import annotations

import re

from rlclinic.model.run import Status
from rlclinic.readers.columns import without
from rlclinic.readers.draft import TOLD, Draft
from rlclinic.readers.formats.logs.log_text import clean_lines
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.parts.logs import log_entries, read_log
from rlclinic.readers.parts.tables import add_table, load_table
from rlclinic.readers.place import Entry
from rlclinic.readers.sources.files import list_checkpoints, read_event_files

# Trial folders: ALGO_Env_<trial>_..., e.g. IMPALA_PongNoFrameskip-v4_0_2018-11-10_00-17-220NYeDg.
_TRIAL = re.compile(r"(?P<algorithm>[A-Z][A-Za-z0-9]*)_(?P<env>.+?)_[0-9a-f]+_.*\d{4}-\d\d-\d\d.*")
_CONFIG = "config/"


def read(draft: Draft) -> None:
    """Read the trial's rows from the fuller of its two tables, and its config."""
    draft.framework = "rllib"
    trial = _TRIAL.fullmatch(draft.place.folder.name)
    if trial is not None:
        draft.algorithm = draft.algorithm or trial["algorithm"]
        draft.environment = draft.environment or trial["env"]
    params = draft.place.first("params.json")
    if params is not None:
        read_config(draft, params)
    tables = [
        (entry, table)
        for name in ("result.json", "progress.csv")
        if (entry := draft.place.first(name)) is not None and (table := load_table(draft, entry)) is not None
    ]
    if tables:
        entry, table = max(tables, key=lambda item: (item[1].rows, len(item[1].numbers)))
        _add(draft, entry, table)
    else:
        read_event_files(draft)
    _error(draft)
    for entry in log_entries(draft.place):
        read_log(draft, entry, metrics=False)
    list_checkpoints(draft)


def _add(draft: Draft, entry: Entry, table: Table) -> None:
    """Result rows repeat the whole config: it becomes settings, not metrics."""
    configured = [name for name in (*table.numbers, *table.texts) if name.startswith(_CONFIG)]
    for name in configured:
        value: object = table.numbers[name][0] if name in table.numbers else table.texts[name][0]
        draft.setting(name.removeprefix(_CONFIG).replace("/", "."), value, entry.relative)
    for name, column in table.texts.items():
        if name == "done" and column and column[-1].lower() == "true":
            draft.clue(Status.FINISHED, f"{entry.relative}: the last row says done", TOLD)
    done = table.numbers.get("done")
    if done is not None and done.size and done[-1] == 1:
        draft.clue(Status.FINISHED, f"{entry.relative}: the last row says done", TOLD)
    add_table(draft, without(table, *configured, "done"), entry.relative, "iterations")


def _error(draft: Draft) -> None:
    entry = draft.place.first("error.txt")
    if entry is None:
        return
    lines = clean_lines(entry.read(4 << 20))
    draft.used(entry, "error")
    draft.log(lines, entry.relative)
    last = next((line.strip() for line in reversed(lines) if line.strip()), "the trial failed")
    draft.clue(Status.CRASHED, f"{entry.relative}: {last}", TOLD)
