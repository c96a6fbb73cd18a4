"""The record: one JSON line per subject and case, appended as soon as a verdict is there. The newest line counts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from bench.probes.examination import Examined
from bench.probes.subjects import Subject
from rlclinic.probes.seed_run import SeedResult

RECORD = Path(__file__).parent / "record.jsonl"
DIGITS = 6
USUAL = {"early": False, "fingerprint": "", "error": None, "message": ""}
"""What a seed's row leaves out; the fingerprint always."""
Rows: TypeAlias = dict[tuple[str, str, str], Mapping[str, Any]]
"""The newest line by subject, probe and case."""


def append(subject: Subject, about: Mapping[str, Any], found: Examined, path: Path = RECORD) -> None:
    """One line in one write, so that several recorders can share the file. `about` is the same for all its lines."""
    row = {
        "subject": subject.name,
        **about,
        "code": found.code,
        "case": found.case,
        "case_digest": found.digest,
        "verdict": found.verdict,
        "reason": found.reason,
        "cpu_seconds": round(found.seconds, 2),
        "seeds": [_seed_row(seed) for seed in found.seeds],
    }
    line = (json.dumps(row, separators=(",", ":")) + "\n").encode()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def rows(path: Path = RECORD) -> Rows:
    """The newest line of each subject, probe and case. A line cut short by a crash is left out."""
    found: Rows = {}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[row["subject"], row["code"], row["case"]] = row
    return found


def seed_of(row: Mapping[str, Any]) -> SeedResult:
    """A seed as it was measured."""
    numbers = {name: {key: _number(v) for key, v in row[name].items()} for name in ("readings", "untrained")}
    return SeedResult(**{**row, **numbers})


def _seed_row(seed: SeedResult) -> dict[str, Any]:
    row = asdict(seed)
    for name in ("readings", "untrained"):
        # JSON has no word for a number that is not finite.
        row[name] = {
            key: round(value, DIGITS) if math.isfinite(value) else str(value) for key, value in row[name].items()
        }
    row["seconds"] = round(seed.seconds, 3)
    for name, usual in USUAL.items():
        if name == "fingerprint" or row[name] == usual:
            del row[name]
    return row


def _number(value: Any) -> float:
    return float(value)
