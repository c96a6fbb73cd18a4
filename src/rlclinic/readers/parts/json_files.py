"""Small JSON files beside a run's metrics: status, metadata, checkpoint records."""

from __future__ import annotations

from typing import Any

from rlclinic.readers.draft import Draft
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.place import Entry

MAX_BYTES = 4 << 20


def load_object(draft: Draft, entry: Entry, kind: str, limit: int = MAX_BYTES) -> dict[str, Any]:
    """The object in a JSON file; empty, with a note, where there is none."""
    try:
        data = load_json_data(decode(entry.read(limit)))
    except (FormatError, OSError) as error:
        draft.note(f"{entry.relative}: {error}")
        return {}
    draft.used(entry, kind)
    return data if isinstance(data, dict) else {}
