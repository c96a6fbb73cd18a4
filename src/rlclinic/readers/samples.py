"""Responses that a training logged row by row: verl's rollout files, TRL's completions, JSONL of any trainer.

Rows are plain JSON. Which key holds what is told by its name; a row without a response is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rlclinic.model.errors import NothingReadable, RunReadError
from rlclinic.model.samples import Sample
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json_data
from rlclinic.readers.place import Entry, Place, scan, single
from rlclinic.readers.redaction.redact import redact

RESPONSE = ("output", "response", "completion", "responses", "completions", "generated_text", "prediction", "answer")
PROMPT = ("input", "prompt", "question", "query", "problem", "prompts", "instruction")
REWARD = ("score", "reward", "rewards", "total_reward", "return", "acc")
GOLD = ("ground_truth", "gts", "gold", "answer", "solution", "target", "label", "reference", "expected")
STEP = ("step", "global_step", "iteration", "update")
PATTERNS = ("*.jsonl", "*.ndjson", "*samples*.json", "*rollout*.json", "*completion*.json", "*generation*.json")
MOST_ROWS = 20_000
# Of all files together; JSON that is no lines takes some ten times as much in memory.
MOST_BYTES = 64 << 20
LONGEST_LINE = 2 << 20


def read_samples(path: Path) -> tuple[list[Sample], tuple[str, ...]]:
    """The responses in a run folder or a file, and notes on what was left out."""
    if not path.exists():
        raise RunReadError("no such file or folder", path=str(path))
    place = scan(path) if path.is_dir() else single(path)
    found: list[Sample] = []
    notes: list[str] = list(place.notes)
    left = MOST_BYTES
    for entry in _candidates(place):
        try:
            before, rows = len(found), 0
            for number, row in _rows(entry, left):
                sample = _sample(row, f"{entry.relative}:{number}")
                found += [] if sample is None else [sample]
                rows += 1
                if len(found) >= MOST_ROWS:
                    break
            if before < len(found) < before + rows:
                notes.append(f"{entry.relative}: {before + rows - len(found):,} of {rows:,} rows hold no response")
        except (FormatError, OSError) as error:
            notes.append(f"{entry.relative}: {error}")
        left -= min(entry.size, left)
        if len(found) >= MOST_ROWS or left <= 0:
            notes.append(f"only the first {len(found):,} responses were read")
            break
    if not found:
        raise NothingReadable(
            "no logged responses here",
            path=str(path),
            hint="verl writes them with trainer.rollout_data_dir, TRL with log_completions; name the JSONL file",
        )
    return found, tuple(notes)


def read_problems(path: Path) -> list[tuple[str, str, str]]:
    """Prompts with their right answers, and a response where the row has one and its reward says that it is right."""
    if not path.is_file():
        raise RunReadError("no such file", path=str(path))
    found = []
    for _, row in _rows(single(path).entries[0]):
        inner = row.get("reward_model") if isinstance(row, dict) else None
        gold = _text({**row, **(inner if isinstance(inner, dict) else {})}, GOLD) if isinstance(row, dict) else None
        if gold is None:
            continue
        reward = next((value for key in REWARD if (value := _number(row.get(key))) is not None), None)
        response = _text(row, RESPONSE[:5]) if reward is not None and reward > 0 else None
        found.append((_text(row, PROMPT) or "", gold.strip(), response or ""))
    if not found:
        hint = f"each line is JSON with a prompt and one of {', '.join(GOLD)}"
        raise NothingReadable("no prompts with a right answer here", path=str(path), hint=hint)
    return found


def _candidates(place: Place) -> Sequence[Entry]:
    return place.entries if len(place.entries) == 1 else place.match(*PATTERNS)


def _rows(entry: Entry, most: int = MOST_BYTES) -> Iterator[tuple[int, Any]]:
    """Rows with their line, or their place in a list; of lines so many bytes, of a list no more than that.

    A torn or foreign line among others is None.
    """
    if not entry.name.endswith((".jsonl", ".ndjson")):
        if entry.size > most:
            raise FormatError(f"larger than {most >> 20} MB")
        whole = load_json_data(decode(entry.read(most)))
        yield from enumerate(whole if isinstance(whole, list) else [], start=1)
        return
    with entry.open() as file:
        taken = 0
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
            taken += len(line)
            if taken > most:
                return
            if not line.strip():
                continue
            try:
                row = load_json_data(decode(line))
            except FormatError:
                row = None
            yield number, row


def _sample(row: Any, where: str) -> Sample | None:
    if not isinstance(row, dict):
        return None
    response = _text(row, RESPONSE)
    if response is None:
        return None
    numbers = {str(key): value for key, cell in row.items() if (value := _number(cell)) is not None}
    reward = next((numbers[key] for key in REWARD if key in numbers), None)
    if reward is None and not _text(row, PROMPT):
        return None
    step = next((numbers[key] for key in STEP if key in numbers), None)
    parts = {redact(key): value for key, value in numbers.items() if key not in STEP}
    return Sample(redact(_text(row, PROMPT) or ""), redact(response), reward, step, where, parts)


def _text(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The text under the first of the names; messages of a chat are joined."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return "\n".join(str(item.get("content", "")) for item in value)
    return None


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    try:
        value = float(cell)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None
