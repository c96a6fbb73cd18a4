"""Any folder of known kinds of files, as most frameworks leave them: event files, tables, configs, logs.

Frameworks that write nothing but such files (CleanRL, skrl, Tianshou, rsl_rl, Spinning Up, ...) need no
reader of their own: their toml says what the names mean.
"""

from __future__ import annotations

from rlclinic.model.run import Checkpoint
from rlclinic.readers.draft import Draft
from rlclinic.readers.parts.config_files import config_entries, read_config, read_overrides
from rlclinic.readers.parts.events import event_entries, groups, read_events
from rlclinic.readers.parts.logs import CONFIG_DUMPS, log_entries, read_config_dump, read_log
from rlclinic.readers.parts.monitor import is_monitor, read_evaluations, read_monitors
from rlclinic.readers.parts.sb3_model import read_model
from rlclinic.readers.parts.tables import read_table, table_entries
from rlclinic.readers.place import Entry

CHECKPOINTS = ("*.zip", "*.pt", "*.pth", "*.ckpt", "*.onnx", "*.d3", "*.safetensors", "*.orbax")
GIT_LFS = b"version https://git-lfs"


def read(draft: Draft) -> None:
    """Read every kind of file that is known."""
    read_configs(draft)
    read_sb3_files(draft)
    read_event_files(draft)
    for entry in table_entries(draft.place):
        if not is_pointer(draft, entry):
            read_table(draft, entry)
    for entry in log_entries(draft.place):
        read_log(draft, entry)
    if not draft.files and len(draft.place.entries) == 1:
        _named_text(draft, draft.place.entries[0])
    list_checkpoints(draft)


def _named_text(draft: Draft, entry: Entry) -> None:
    """A file that the user names is read as a log whatever it is called, where it holds rows of metrics."""
    read_log(draft, entry)
    if not draft.metric_names and not draft.clues:
        draft.files.clear()


def read_configs(draft: Draft) -> None:
    """Config files, overrides first: they are what the user typed."""
    for entry in draft.place.match(".hydra/overrides.yaml", "hydra/overrides.yaml"):
        read_overrides(draft, entry)
    for entry in config_entries(draft.place):
        if not is_pointer(draft, entry):
            read_config(draft, entry)
    for entry in draft.place.match("params/env.yaml"):
        read_config(draft, entry, "env.")
    for entry in draft.place.match(*CONFIG_DUMPS):
        read_config_dump(draft, entry)


def read_sb3_files(draft: Draft) -> None:
    """What Stable-Baselines3's Monitor, EvalCallback and save() leave."""
    for entry in draft.place.match("*.zip"):
        read_model(draft, entry)
    monitors = [entry for entry in draft.place.match("*monitor.csv") if is_monitor(entry.head(512))]
    read_monitors(draft, monitors)
    evaluations = draft.place.first("evaluations.npz")
    if evaluations is not None:
        read_evaluations(draft, evaluations)


def read_event_files(draft: Draft) -> None:
    """Event files; of a folder that holds several runs the one that was asked for, else the last."""
    entries = [entry for entry in event_entries(draft.place) if not is_pointer(draft, entry)]
    found = groups(entries)
    if not found:
        return
    longest = max(reversed(found), key=lambda group: sum(entry.size for entry in group))
    chosen = next((group for group in found if group[0].name == draft.place.member), longest)
    if len(found) > 1 and not draft.place.member:
        draft.note(f"the folder holds {len(found)} separate runs; this is the longest, {chosen[0].name}")
    read_events(draft, chosen)


def list_checkpoints(draft: Draft) -> None:
    """Name the saved models; none is opened."""
    for entry in draft.place.match(*CHECKPOINTS):
        label = next((word for word in ("best", "last", "final") if word in entry.name.lower()), "")
        draft.checkpoints.append(Checkpoint(entry.relative, _step_in(entry.name), label))


def is_pointer(draft: Draft, entry: Entry) -> bool:
    """Whether git-lfs left a pointer in place of the data."""
    head = entry.head(len(GIT_LFS)) if entry.size < 1024 else b""
    if head != GIT_LFS:
        return False
    draft.note(f"{entry.relative}: a git-lfs pointer, the data are not here; run `git lfs pull`")
    return True


def _step_in(name: str) -> float | None:
    digits = [part for part in name.replace("-", "_").replace(".", "_").split("_") if part.isdigit()]
    return float(max(digits, key=len)) if digits else None
