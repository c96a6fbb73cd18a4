"""Values of formats that only know text (flags, markdown tables, MLflow parameters) become typed values."""

from __future__ import annotations

import re

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.python_literal import load_literal

_INTEGER = re.compile(r"[-+]?\d{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_WORDS: dict[str, object] = {"true": True, "false": False, "none": None, "null": None}


def typed(text: str) -> object:
    """The value that a text means: number, truth value, nothing, list, or the text itself."""
    stripped = text.strip()
    if stripped.lower() in _WORDS:
        return _WORDS[stripped.lower()]
    if _INTEGER.fullmatch(stripped):
        return int(stripped)
    if _FLOAT.fullmatch(stripped):
        return float(stripped)
    if stripped[:1] in "[({'\"" and len(stripped) > 1:
        try:
            return load_literal(stripped)
        except FormatError:
            return stripped
    return stripped
