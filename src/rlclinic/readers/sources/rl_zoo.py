"""An rl-zoo3 run: `<ENV>_<n>/` with monitor files, evaluations, and `<ENV>/args.yml`, `<ENV>/config.yml`."""

from __future__ import annotations

from rlclinic.readers.draft import Draft
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.parts.tables import read_table, table_entries
from rlclinic.readers.sources.files import list_checkpoints, read_event_files, read_sb3_files


def read(draft: Draft) -> None:
    """Read the typed arguments, the hyperparameters in force, and SB3's own files."""
    draft.framework = "sb3-zoo"
    # config.yml holds what was trained with; args.yml also holds flags that were left at -1.
    for name in ("config.yml", "args.yml"):
        entry = draft.place.first(f"*/{name}", name)
        if entry is not None:
            read_config(draft, entry)
            draft.environment = draft.environment or entry.relative.rpartition("/")[0]
    draft.environment = draft.text("env") or draft.environment
    budget = draft.number("n_timesteps")
    draft.budget = budget if budget and budget > 0 else None
    read_sb3_files(draft)
    read_event_files(draft)
    for entry in table_entries(draft.place):
        read_table(draft, entry)
    list_checkpoints(draft)
