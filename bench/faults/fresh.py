"""What was recorded beside the plan: faults of the catalogue on environments that it does not hold, predicted before
scoring.

`fresh` is on tasks that no table knows but one, `known` on well-known tasks, with bases that development may look at
and others that it may not. `predict` diagnoses the recorded runs of the test bases and writes what it says; that file
is committed; `score` holds it against the labels and counts the look. What was scored once is development data: only
the first score says how others would fare.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.faults import measures, shards
from bench.faults.bases import base_of
from bench.faults.examine import FINE, Answer, Row, answer, read_record
from bench.faults.labels import Label, labels
from bench.faults.plan import Entry, beside
from rlclinic.causes.catalogue import UNKNOWN

PREDICTIONS, LOOKS = "predictions.jsonl", "looks.jsonl"
HOW = {"with_config": True, "metrics_only": False}
"""Whether the config is read."""
LEAST, DIGITS = 0.01, 4
"""Probability below which a cause is not written down, and digits of the others."""
FEWEST_SEEDS = 1
"""Of an instance that is scored: most have two, and a label is as sure as they are."""
TEST_LOOKS, TEST_LOOKS_SINCE = 9, 63
"""At the test part of the plan, until it became development data, and since."""
HEADING, NEXT = "## Fresh instances", "## What limits it"
MOST = 5
"""Next steps that are read."""
GROUPS = {"all faults": "ABCDEFG", "groups C to G": "CDEFG", "environment and reward faults": "AB"}


@dataclass(frozen=True, slots=True)
class Part:
    """One of them, and what the page says of it."""

    name: str
    """Of its table of bases and of its folder."""
    heading: str
    chosen: str
    """How its bases were chosen and what is known of their tasks."""
    looks_since: int
    """After its predictions were scored, with changes of the rules in between."""
    first: str = ""
    """What the first look found, where the predictions are no longer those of it."""

    @property
    def folder(self) -> Path:
        """Where its records, predictions and looks lie."""
        return Path(__file__).with_name(self.name)

    @property
    def entries(self) -> Mapping[str, Entry]:
        """What is recorded, by name."""
        return beside(self.name)


PARTS = (
    Part(
        "fresh",
        HEADING,
        "Bases and faults were chosen by the true\n"
        "returns of trial runs alone; no table of tasks knows an environment but CliffWalking.",
        45,
        "0.438 and 0.356 of all faults and 0.237 and 0.184 of those of environment\n"
        "and reward, with config and without",
    ),
    Part(
        "known",
        "## Well-known tasks",
        "Bases and faults were chosen by the true\n"
        "returns of clean trial runs alone; the table of tasks knows every environment.",
        31,
        "0.706 and 0.588 of all faults and 0.6 and 0.4 of those of environment\nand reward, with config and without",
    ),
)


def part_of(name: str) -> Part:
    """The part of this name."""
    return next(part for part in PARTS if part.name == name)


def predict(part: Part, folder: Path, *, again: bool = False) -> int:
    """Diagnose every recorded run of the test bases, with its config and without, and write the answers; how many."""
    path = folder / PREDICTIONS
    if path.exists() and not again:
        raise SystemExit(f"{path} is there; predicting anew (--again) and scoring that is another look")
    lines = []
    for record in sorted(shards.latest(folder), key=lambda record: record.name):
        entry = part.entries[record.name]
        if _side(entry) == "test":
            lines.append(json.dumps({"run": record.name, **_said(record, entry)}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def score(part: Part, folder: Path) -> str:
    """The section of the page; predictions that were not scored before are one more look."""
    mark = hashlib.sha256((folder / PREDICTIONS).read_bytes()).hexdigest()[:16]
    if mark not in {look["predictions"] for look in _lines(folder / LOOKS)}:
        with open(folder / LOOKS, "a", encoding="utf-8") as file:
            file.write(json.dumps({"predictions": mark}) + "\n")
    return section(part, folder)


def section(part: Part, folder: Path) -> str:
    """What the predictions are worth; empty before the first look."""
    if not _lines(folder / LOOKS):
        return ""
    found = labels(shards.latest(folder), part.entries, seeds=FEWEST_SEEDS)
    rows = [row for line in _lines(folder / PREDICTIONS) if (row := _row(part, line, found)) is not None]
    return _summary(part, rows, found)


def sections() -> str:
    """Those of all parts, and how often anybody looked."""
    return "\n\n".join(text for text in (*(section(part, part.folder) for part in PARTS), _looks()) if text)


def develop(part: Part) -> str:
    """What the diagnosis says of the development half now: nothing of the test half is diagnosed."""
    found = labels(shards.latest(part.folder), part.entries, seeds=FEWEST_SEEDS)
    records = [record for record in shards.latest(part.folder) if _side(part.entries[record.name]) == "development"]
    lines = [{"run": record.name, **_said(record, part.entries[record.name])} for record in records]
    return "\n".join(_measures([row for line in lines if (row := _row(part, line, found)) is not None]))


def into_page(text: str, part: str) -> str:
    """The page with these sections in their place."""
    before, limits, after = text.partition(NEXT)
    return f"{before.partition(HEADING)[0]}{part}\n\n{limits}{after}"


def _side(entry: Entry) -> str:
    return base_of(entry.instance.base).side


def _said(record: shards.Record, entry: Entry) -> dict[str, Any]:
    said: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for how, config in HOW.items():
            found = answer(read_record(record, entry, Path(place), config=config))
            causes = [(cause, kind, round(p, DIGITS)) for cause, kind, p in found.causes if p >= LEAST]
            said[how] = {**asdict(found), "causes": causes}
    return said


def _row(part: Part, line: Mapping[str, Any], found: Mapping[str, Label]) -> Row | None:
    """None for an instance whose runs are those of another."""
    entry = part.entries[line["run"]]
    label = found.get(entry.instance.name)
    if label is None:
        return None
    full, bare = (Answer(**{**line[how], "causes": tuple(map(tuple, line[how]["causes"]))}) for how in HOW)
    return Row(entry, label.label, label.accepted, part.name, False, full, bare, {}, "", 0.0)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _summary(part: Part, rows: Sequence[Row], found: Mapping[str, Label]) -> str:
    tested = {row.entry.instance.name for row in rows}
    scored = [label for name, label in found.items() if name in tested]
    counts = Counter(label.label for label in scored if label.instance.injected)
    alone = sum(label.label == "fault" and label.seeds == 1 for label in scored)
    places = sorted({base_of(label.instance.base).environment for label in scored})
    lines = [
        part.heading,
        "",
        f"{len(rows)} runs of {len(scored)} instances on {', '.join(places)}, which the plan does not hold:",
        f"{counts.total()} with a fault of the catalogue, of which {counts['fault']} do harm and are scored as faults",
        f"({counts['edge']} are edge cases, {counts['benign']} benign), and {len(scored) - counts.total()} without.",
        f"{_seeds(counts['fault'], alone)}, so labels are less sure than in the plan.",
        "Nothing was fitted to them before the first look, and no cause is withheld from the table.",
        f"{part.chosen} The",
        f"predictions in `bench/faults/{part.name}` were committed before they were first scored;",
        f"`python -m bench.faults {part.name} score` repeats it.{_since(part)}",
        "",
        *_measures(rows),
    ]
    return "\n".join(lines)


def _since(part: Part) -> str:
    if not part.first:
        return ""
    return (
        f" That look\nnamed the cause first in {part.first}.\nRules were changed after its misses were read, so what "
        "follows is in-sample."
    )


def _seeds(faults: int, alone: int) -> str:
    return "All have one seed" if alone == faults else f"{alone} of the {faults} have one seed, the others two"


def _measures(rows: Sequence[Row]) -> list[str]:
    faulty = [row for row in rows if row.label == "fault"]
    kinds = {kind: [row for row in rows if row.entry.instance.kind == kind] for kind in ("clean", "odd")}
    lines = ["| measure | with config | metrics only |", "|---|---|---|"]
    for name, groups in GROUPS.items():
        some = [row for row in faulty if row.entry.instance.group in groups]
        lines.append(_told(f"right cause first, {name}", some, lambda pick: measures.top(1, pick)))
        lines.append(_told(f"right cause among three, {name}", some, lambda pick: measures.top(3, pick)))
    outside = [row for row in faulty if row.entry.instance.group in GROUPS["environment and reward faults"]]
    first, any_of = "the first next step mends or examines it", "any next step does"
    lines += [
        _told(f"{first}, environment and reward faults", outside, lambda pick: measures.leads_there(1, pick)),
        _told(f"{any_of}, environment and reward faults", outside, lambda pick: measures.leads_there(MOST, pick)),
        _told("a setting is to be changed, clean runs", kinds["clean"], measures.changes),
        _told("`unknown` first on a fault", faulty, lambda pick: lambda row: float(pick(row).leading == UNKNOWN)),
        _told("nothing wrong first on a fault", faulty, lambda pick: lambda row: float(pick(row).leading in FINE)),
        _told("false alarms, clean runs", kinds["clean"], measures.alarm),
        _told("false alarms, odd settings that are meant to be harmless", kinds["odd"], measures.alarm),
    ]
    return lines


def _told(name: str, rows: Sequence[Row], value: Callable[[measures.Pick], measures.Value]) -> str:
    shares = (measures.share(rows, value(pick)) for pick in (measures.with_config, measures.metrics_only))
    return f"| {name} | {' | '.join(map(str, shares))} |"


def _looks() -> str:
    lines = [
        "## Looks at the test data",
        "",
        f"- The test part of the plan: {TEST_LOOKS} looks, with changes of the rules in between, and as",
        f"  development data {TEST_LOOKS_SINCE} more. Its numbers on this page are in-sample.",
    ]
    for part in PARTS:
        looks = [look["predictions"] for look in _lines(part.folder / LOOKS)]
        if looks:
            lines += [
                f"- {part.heading.removeprefix('## ')}: {len(looks)}, and as development data {part.looks_since} more",
                f"  after that (predictions by the start of their SHA-256: {', '.join(looks)}).",
            ]
    return "\n".join(lines)
