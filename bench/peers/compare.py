"""Ask every peer about the recorded runs and count what it says."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.faults.examine import FINE
from bench.faults.labels import Label
from bench.faults.plan import entries
from bench.faults.replay import replay
from bench.faults.shards import Record
from bench.faults.split import sides
from bench.peers.case import Case
from bench.peers.labelled import fixture_cases, published_language_cases
from bench.peers.thresholds import thresholds
from rlclinic.causes.catalogue import UNKNOWN, catalogue
from rlclinic.engine import diagnose
from rlclinic.model.errors import RlclinicError
from rlclinic.model.run import Run

HERE = Path(__file__).parent
OURS = "rlclinic"
WORDS = """Each peer gets the metrics under its own names and in its own form. Every alarm of a peer counts, and for the
right family any of them suffices; of rlclinic only the leading cause counts, and `unknown` is no alarm."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one peer says of one run."""

    alarms: tuple[str, ...]
    classes: frozenset[str]
    checks: int
    seconds: float
    error: str = ""


@cache
def peers() -> Mapping[str, Mapping[str, Any]]:
    """The table of peers."""
    return tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))


def cases(records: Iterable[Record], labels: Mapping[str, Label], folder: Path) -> list[Case]:
    """Every run of the test part that is clearly faulty, healthy or benign."""
    known, found = entries(), []
    for at, record in enumerate(records):
        if record.name not in known or sides()[known[record.name].instance.name] != "test":
            continue
        instance = known[record.name].instance
        label = labels.get(instance.name)
        if label is None or label.label in ("edge", "unfinished"):
            continue
        try:
            run = replay(record, instance, folder / str(at))
        except RlclinicError:
            continue
        classes = frozenset(catalogue()[cause].cause_class for cause in label.accepted)
        found.append(Case(record.name, run, label.label == "fault", classes))
    return found


def ask(peer: str, found: Sequence[Case], python: str) -> dict[str, Said]:
    """A peer's answers by name of the run."""
    if peer == OURS:
        return {case.name: _ours(case.run) for case in found}
    families = peers()[peer]["families"]
    tables = {case.name: rows_for(peer, case.run) for case in found}
    if peer == "thresholds":
        answers = [_timed(name, rows) for name, rows in tables.items()]
    else:
        lines = "".join(json.dumps({"name": name, "rows": rows}) + "\n" for name, rows in tables.items())
        done = subprocess.run(
            [python, str(HERE / "drive.py"), peer], input=lines, capture_output=True, text=True, check=True
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        answer["name"]: Said(
            tuple(answer["alarms"]),
            frozenset(name for alarm in answer["alarms"] for name in families.get(alarm, ())),
            answer["checks"],
            answer["seconds"],
            answer.get("error", ""),
        )
        for answer in answers
    }


def rows_for(peer: str, run: Run) -> list[dict[str, float]]:
    """The run as rows under the peer's names; each metric holds its last value until the next."""
    chosen = {}
    for name, canonical in peers()[peer]["metrics"].items():
        series = next((run.series[one] for one in canonical if one in run.series and len(run.series[one])), None)
        if series is not None:
            chosen[name] = series
    if not chosen:
        return []
    axis = max((series.steps for series in chosen.values()), key=len)
    rows: list[dict[str, float]] = [{"step": float(step)} for step in axis]
    for name, series in chosen.items():
        places = np.searchsorted(series.steps, axis, side="right") - 1
        for row, place in zip(rows, places, strict=True):
            if place >= 0:
                row[name] = float(series.values[place])
    return rows


def summary(peer: str, found: Sequence[Case], said: Mapping[str, Said]) -> dict[str, float]:
    """Shares over the runs that a peer was asked about."""
    faulty, healthy = [case for case in found if case.faulty], [case for case in found if not case.faulty]
    silent = [case for case in found if not said[case.name].alarms]
    return {
        "says something of a faulty run": _mean(bool(said[case.name].alarms) for case in faulty),
        "names the right family": _mean(bool(said[case.name].classes & case.classes) for case in faulty),
        "false alarms": _mean(bool(said[case.name].alarms) for case in healthy),
        "silent with nothing checked": _mean(said[case.name].checks == 0 for case in silent),
        "errors": _mean(bool(said[case.name].error) for case in found),
        "seconds a run": float(np.median([said[case.name].seconds for case in found])) if found else float("nan"),
    }


def section(records: Sequence[Record], labels: Mapping[str, Label], python: str) -> str:
    """The comparison as a section of the page."""
    lines = ["## Peers on the same runs", "", WORDS, ""]
    with tempfile.TemporaryDirectory() as folder:
        for title, found in (
            ("Recorded runs of the test part", cases(records, labels, Path(folder))),
            ("Fault runs of the tests", fixture_cases(language=False)),
            ("Fault runs of the tests, language models", fixture_cases(language=True)),
            ("Published logs of language models", published_language_cases()),
        ):
            lines += table(title, found, python)
    lines += ["What each is made for:", ""]
    lines += [f"- {name}: {entry['intent']}." for name, entry in peers().items()]
    return "\n".join(lines)


def table(title: str, found: Sequence[Case], python: str) -> list[str]:
    """What everybody says of some runs."""
    if not found:
        return [f"### {title}", "", "None at hand.", ""]
    results = {name: summary(name, found, ask(name, found, python)) for name in (OURS, *peers())}
    faulty = sum(case.faulty for case in found)
    measures = list(next(iter(results.values())))
    lines = [f"### {title}", "", f"{faulty} faulty, {len(found) - faulty} healthy or benign runs.", ""]
    lines += ["| | " + " | ".join(measures) + " |", "|---" * (len(measures) + 1) + "|"]
    for name, values in results.items():
        lines.append(f"| {name} | " + " | ".join(f"{values[measure]:.3f}" for measure in measures) + " |")
    return [*lines, ""]


def _ours(run: Run) -> Said:
    began = time.perf_counter()
    found = diagnose(run)
    seconds = time.perf_counter() - began
    led = [cause for cause in found.causes[:1] if cause.id not in FINE and cause.id != UNKNOWN]
    checks = 0 if found.verdict.value == "insufficient-data" else 1
    return Said(tuple(cause.id for cause in led), frozenset(cause.cause_class for cause in led), checks, seconds)


def _timed(name: str, rows: list[dict[str, float]]) -> dict[str, Any]:
    began = time.perf_counter()
    alarms, checks = thresholds(rows) if rows else ([], 0)
    return {"name": name, "alarms": alarms, "checks": checks, "seconds": time.perf_counter() - began}


def _mean(values: Iterable[bool]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else float("nan")
