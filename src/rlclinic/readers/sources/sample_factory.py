"""Sample Factory's experiment folder: config.json, sf_log.txt and the hidden .summary/<policy>/ events."""

from __future__ import annotations

import re

from rlclinic.model.run import Status
from rlclinic.readers.draft import TOLD, Draft
from rlclinic.readers.parts.config_files import read_config
from rlclinic.readers.parts.events import event_entries, read_events
from rlclinic.readers.parts.logs import read_log
from rlclinic.readers.sources.files import list_checkpoints

_COLLECTED = re.compile(r"Collected \{0: (?P<steps>\d+)\}, FPS")


def read(draft: Draft) -> None:
    """Read the first policy's events, the config and the log."""
    draft.framework = "sample-factory"
    draft.source = "tensorboard"
    config = draft.place.first("config.json", "cfg.json")
    if config is not None:
        read_config(draft, config)
    events = event_entries(draft.place)
    policies = sorted({entry.relative.rpartition("/")[0] for entry in events})
    if policies:
        read_events(draft, [entry for entry in events if entry.relative.startswith(policies[0] + "/")])
    if len(policies) > 1:
        draft.note(f"policy 0 of {len(policies)} is shown; read the folders under .summary for the others")
    log = draft.place.first("sf_log.txt")
    if log is not None:
        # Workers that end at shutdown say `process died already`; only the last line tells how the run ended.
        lines = read_log(draft, log, metrics=False)
        ended = next((found for line in reversed(lines[-20:]) if (found := _COLLECTED.search(line))), None)
        if ended is not None:
            draft.clue(Status.FINISHED, f"{log.relative}: shut down cleanly at {ended['steps']} steps", TOLD)
    list_checkpoints(draft)
