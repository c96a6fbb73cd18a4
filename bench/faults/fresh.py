"""The fresh part: faults of the catalogue on environments that the plan does not hold, predicted before scoring.

`predict` diagnoses the recorded runs and writes what it says; that file is committed; `score` holds it against the
labels and counts the look. What was scored once is development data: only the first score says how others would fare.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.faults import measures, shards
from bench.faults.bases import base_of
from bench.faults.examine import FINE, Answer, Row, answer, read_record
from bench.faults.labels import Label, labels
from bench.faults.plan import fresh
from rlclinic.causes.catalogue import UNKNOWN

FOLDER = Path(__file__).with_name("fresh")
PREDICTIONS, LOOKS = "predictions.jsonl", "looks.jsonl"
HOW = {"with_config": True, "metrics_only": False}
"""Whether the config is read."""
LEAST, DIGITS = 0.01, 4
"""Probability below which a cause is not written down, and digits of the others."""
FEWEST_SEEDS = 1
"""Of an instance that is scored: most have two, and a label is as sure as they are."""
TEST_LOOKS, TEST_LOOKS_SINCE = 9, 24
"""At the test part of the plan, until it became development data, and since."""
FRESH_LOOKS_SINCE = 4
"""At the fresh part after its predictions were scored, with changes of the rules in between."""
HEADING, NEXT = "## Fresh instances", "## What limits it"
GROUPS = {"all faults": "ABCDEFG", "groups C to G": "CDEFG", "environment and reward faults": "AB"}


def predict(folder: Path = FOLDER, *, again: bool = False) -> int:
    """Diagnose every recorded run, with its config and without, and write the answers; how many runs."""
    path = folder / PREDICTIONS
    if path.exists() and not again:
        raise SystemExit(f"{path} is there; predicting anew (--again) and scoring that is another look")
    lines = []
    for record in sorted(shards.latest(folder), key=lambda record: record.name):
        said: dict[str, Any] = {"run": record.name}
        with tempfile.TemporaryDirectory() as place:
            for how, config in HOW.items():
                found = answer(read_record(record, fresh()[record.name], Path(place), config=config))
                causes = [(cause, kind, round(p, DIGITS)) for cause, kind, p in found.causes if p >= LEAST]
                said[how] = {**asdict(found), "causes": causes}
        lines.append(json.dumps(said) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def score(folder: Path = FOLDER) -> str:
    """The section of the page; predictions that were not scored before are one more look."""
    mark = hashlib.sha256((folder / PREDICTIONS).read_bytes()).hexdigest()[:16]
    if mark not in {look["predictions"] for look in _lines(folder / LOOKS)}:
        with open(folder / LOOKS, "a", encoding="utf-8") as file:
            file.write(json.dumps({"predictions": mark}) + "\n")
    return section(folder)


def section(folder: Path = FOLDER) -> str:
    """What the predictions are worth, and how often anybody looked; empty before the first look."""
    looks = [look["predictions"] for look in _lines(folder / LOOKS)]
    if not looks:
        return ""
    found = labels(shards.latest(folder), fresh(), seeds=FEWEST_SEEDS)
    rows = [row for line in _lines(folder / PREDICTIONS) if (row := _row(line, found)) is not None]
    return f"{_summary(rows, found)}\n\n{_looks(looks)}"


def into_page(text: str, part: str) -> str:
    """The page with this section in its place."""
    before, limits, after = text.partition(NEXT)
    return f"{before.partition(HEADING)[0]}{part}\n\n{limits}{after}"


def _row(line: Mapping[str, Any], found: Mapping[str, Label]) -> Row | None:
    """None for an instance whose runs are those of another."""
    entry = fresh()[line["run"]]
    label = found.get(entry.instance.name)
    if label is None:
        return None
    full, bare = (Answer(**{**line[how], "causes": tuple(map(tuple, line[how]["causes"]))}) for how in HOW)
    return Row(entry, label.label, label.accepted, "fresh", False, full, bare, {}, "", 0.0)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _summary(rows: Sequence[Row], found: Mapping[str, Label]) -> str:
    faulty = [row for row in rows if row.label == "fault"]
    kinds = {kind: [row for row in rows if row.entry.instance.kind == kind] for kind in ("clean", "odd")}
    counts = Counter(label.label for label in found.values() if label.instance.injected)
    alone = sum(label.label == "fault" and label.seeds == 1 for label in found.values())
    places = sorted({base_of(label.instance.base).environment for label in found.values()})
    lines = [
        HEADING,
        "",
        f"{len(rows)} runs of {len(found)} instances on {', '.join(places)}, which the plan does not hold:",
        f"{counts.total()} with a fault of the catalogue, of which {counts['fault']} do harm and are scored as faults",
        f"({counts['edge']} are edge cases, {counts['benign']} benign), and {len(found) - counts.total()} without one.",
        f"{alone} of the {counts['fault']} have one seed, the others two, so labels are less sure than in the plan.",
        "Nothing was fitted to them, and no cause is withheld from the table. Bases and faults were chosen by the true",
        "returns of trial runs alone; no table of tasks knows an environment but CliffWalking. The predictions in",
        "`bench/faults/fresh` were committed before they were scored; `python -m bench.faults fresh score` repeats it.",
        "",
        "| measure | with config | metrics only |",
        "|---|---|---|",
    ]
    for name, groups in GROUPS.items():
        some = [row for row in faulty if row.entry.instance.group in groups]
        lines.append(_told(f"right cause first, {name}", some, lambda pick: measures.top(1, pick)))
        lines.append(_told(f"right cause among three, {name}", some, lambda pick: measures.top(3, pick)))
    lines += [
        _told("`unknown` first on a fault", faulty, lambda pick: lambda row: float(pick(row).leading == UNKNOWN)),
        _told("nothing wrong first on a fault", faulty, lambda pick: lambda row: float(pick(row).leading in FINE)),
        _told("false alarms, clean runs", kinds["clean"], measures.alarm),
        _told("false alarms, odd settings that are meant to be harmless", kinds["odd"], measures.alarm),
    ]
    return "\n".join(lines)


def _told(name: str, rows: Sequence[Row], value: Callable[[measures.Pick], measures.Value]) -> str:
    shares = (measures.share(rows, value(pick)) for pick in (measures.with_config, measures.metrics_only))
    return f"| {name} | {' | '.join(map(str, shares))} |"


def _looks(looks: Sequence[str]) -> str:
    return "\n".join(
        [
            "## Looks at the test data",
            "",
            f"- The test part of the plan: {TEST_LOOKS} looks, with changes of the rules in between, and as",
            f"  development data {TEST_LOOKS_SINCE} more. Its numbers on this page are in-sample.",
            f"- The fresh part: {len(looks)} (predictions by the start of their SHA-256: {', '.join(looks)}), and as",
            f"  development data {FRESH_LOOKS_SINCE} more, after the numbers above.",
        ]
    )
