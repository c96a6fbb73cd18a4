"""A Hydra job folder: its resolved config, what the user overrode, and whatever the job wrote beside them."""

from __future__ import annotations

from rlclinic.readers.draft import Draft
from rlclinic.readers.sources import files


def read(draft: Draft) -> None:
    """Read the job's files like any others; `.hydra` only adds the config."""
    draft.source = "hydra"
    files.read(draft)
