"""An rl-zoo3 run: `<ENV>_<n>/` with monitor files, evaluations, and `<ENV>/args.yml`, `<ENV>/config.yml`."""

from __future__ import annotations

from rlclinic.model.numbers import number
from rlclinic.readers.draft import Draft
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.parts.tables import read_table, table_entries
from rlclinic.readers.sources.files import list_checkpoints, read_event_files, read_sb3_files


def read(draft: Draft) -> None:
    """Read the hyperparameters in force, the typed arguments, and SB3's own files."""
    draft.framework = "sb3-zoo"
    # config.yml holds what was trained with; args.yml also holds flags that were left at their default.
    for name in ("config.yml", "args.yml"):
        entry = draft.place.first(f"*/{name}", name)
        data = read_config(draft, entry) if entry is not None else None
        budget = number(data.get("n_timesteps")) if isinstance(data, dict) else None
        # A typed `-n` overrides the config; -1 means that none was typed.
        if budget is not None and budget > 0:
            draft.budget = budget
        if entry is not None and not draft.environment:
            draft.environment = draft.text("env") or entry.relative.rpartition("/")[0]
    draft.environment = draft.text("env") or draft.environment
    read_sb3_files(draft)
    read_event_files(draft)
    for entry in table_entries(draft.place):
        read_table(draft, entry)
    list_checkpoints(draft)
