"""Labelled runs beside the recorded corpus: the small fault runs of the tests, language models among them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bench.peers.case import Case
from rlclinic.causes.catalogue import catalogue
from rlclinic.model.errors import RlclinicError
from rlclinic.readers.open import read

FIXTURES = Path("tests/fixtures/runs")
CORPUS = Path(os.environ.get("RLCLINIC_CORPUS", "../shared/corpus"))
"""Logs that people published; not part of the repository."""
LANGUAGE = "llm_rl/"
FINE = frozenset({"learning", "solved"})


def fixture_cases(*, language: bool) -> list[Case]:
    """The fault runs of the tests, of language models or of all others."""
    entries = yaml.safe_load((FIXTURES / "faults/cases.yaml").read_text(encoding="utf-8"))
    chosen = [entry for entry in entries if (entry["algorithm"] == "GRPO") == language]
    return list(_read((FIXTURES, entry, not entry["healthy"], entry["accepted_causes"]) for entry in chosen))


def published_language_cases() -> list[Case]:
    """Published logs of language models whose label is sure; none where the corpus is not at hand."""
    path = CORPUS / "labels.yaml"
    entries = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else []
    chosen = [entry for entry in entries if entry["path"].startswith(LANGUAGE) and entry["confidence"] == "high"]
    return list(_read((CORPUS, entry, not FINE & set(entry["verdict"]), entry["causes"]) for entry in chosen))


def _read(wanted: Iterator[tuple[Path, dict[str, Any], bool, list[str]]]) -> Iterator[Case]:
    entries = catalogue()
    for root, entry, faulty, causes in wanted:
        try:
            run = read(root / entry["path"])
        except RlclinicError:
            continue
        classes = frozenset(entries[cause].cause_class for cause in causes if cause in entries)
        yield Case(entry["path"], run, faulty, classes)
