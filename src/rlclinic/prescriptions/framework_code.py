"""Where a framework for language models computes what a cause is about; the real line where a checkout is given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from rlclinic.causes.catalogue import catalogue
from rlclinic.model.diagnosis import Cause
from rlclinic.prescriptions.code_search import sources_of
from rlclinic.readers.redaction.redact import redact
from rlclinic.reference.table_file import load_table

WIDTH = 120


def with_code(causes: Sequence[Cause], framework: str, code: Path | None) -> tuple[Cause, ...]:
    """The causes with file and function of the framework, or with the lines of a checkout that hold them."""
    table = _places().get(framework, {})
    if not any(cause.id in table for cause in causes):
        return tuple(causes)
    sources = sources_of(code) if code is not None else {}
    return tuple(replace(cause, code=_found(table.get(cause.id, ()), sources)) for cause in causes)


def _found(places: Sequence[str], sources: Mapping[str, str]) -> tuple[str, ...]:
    """Each place by its line in the checkout, where it is there; else as the framework has it."""
    lines = [line for place in places if (line := _line(place, sources))]
    return tuple(lines or places)


def _line(place: str, sources: Mapping[str, str]) -> str:
    path, _, name = place.partition(": ")
    text = next((text for file, text in sources.items() if file == path or file.endswith("/" + path)), "")
    wanted = re.compile(rf"\s*(?:(?:async )?def|class) {re.escape(name)}\b|.*\b{re.escape(name)}\b.*=")
    for number, line in enumerate(text.splitlines(), start=1):
        if wanted.match(line):
            return f"{path}:{number}: {redact(line.strip())[:WIDTH]}"
    return ""


@cache
def _places() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    raw = load_table(Path(__file__).with_name("framework_code.toml"))
    unknown = sorted({cause for row in raw.values() for cause in row} - set(catalogue()))
    if unknown:
        raise ValueError(f"framework_code.toml: not causes: {', '.join(unknown)}")
    return {framework: {cause: tuple(places) for cause, places in row.items()} for framework, row in raw.items()}
