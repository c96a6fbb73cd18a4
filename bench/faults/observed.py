"""Groups A and B once more with what `Observe` sees: facts about the environments, kept beside the recorded runs.

`python -m bench.faults.observed record` trains the chosen entries again (training is the same with and without
Observe) and keeps their facts; `score` diagnoses the recorded runs with and without these facts.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.faults import job, patches
from bench.faults.examine import Answer, answer, read_record
from bench.faults.labels import Label, labels
from bench.faults.plan import Entry, entries
from bench.faults.shards import Record, latest
from bench.repair.score import interval
from rlclinic.model.environment_facts import EnvironmentFacts, facts_of_json
from rlclinic.model.run import Run

FACTS = Path(__file__).with_name("observed.jsonl.gz")
GROUPS = frozenset({"A", "B"})
LONGEST = 900.0
DIGITS = 5


def chosen() -> list[Entry]:
    """The first seed of every harmful instance of groups A and B, and of every clean base, the cheapest first."""
    known, found = labelled()
    harmful = [
        entry for entry in found if entry.instance.group in GROUPS and known[entry.instance.name].label == "fault"
    ]
    clean = [entry for entry in found if entry.instance.kind == "clean" and entry.instance.layout == "lab"]
    seconds = {one.name: one.seconds for one in latest()}
    return sorted([*harmful, *clean], key=lambda entry: (seconds[entry.name], entry.name))


def labelled() -> tuple[Mapping[str, Label], list[Entry]]:
    """Labels by instance, and the first recorded seed of each instance that has one."""
    records = latest()
    known = labels(records)
    first: dict[str, Entry] = {}
    for record in sorted(records, key=lambda one: one.name):
        entry = entries().get(record.name)
        if entry is not None and entry.instance.name in known and not record.files:
            first.setdefault(entry.instance.name, entry)
    order = {name: at for at, name in enumerate(entries())}
    return known, sorted(first.values(), key=lambda entry: order[entry.name])


def record(minutes: float) -> None:
    """Train what is missing, one run at a time, for so many minutes."""
    facts = observed()
    end = time.monotonic() + 60.0 * minutes
    context = multiprocessing.get_context("spawn")
    for entry in chosen():
        if entry.name in facts or time.monotonic() > end:
            continue
        with tempfile.TemporaryDirectory() as place:
            target = Path(place) / "facts.json"
            process = context.Process(target=_train, args=(entry.name, str(target)))
            process.start()
            process.join(LONGEST)
            process.kill()
            if target.exists():
                facts[entry.name] = facts_of_json(json.loads(target.read_text(encoding="utf-8")))
                _write(facts)
                print(entry.name, flush=True)


def observed() -> dict[str, EnvironmentFacts]:
    """The facts that were kept, by entry."""
    if not FACTS.exists():
        return {}
    with gzip.open(FACTS, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return {row["name"]: facts_of_json(row["facts"]) for row in rows}


def score() -> str:
    """How often the right cause leads, with and without what was observed, and with the environment's id hidden."""
    facts, (known, _) = observed(), labelled()
    records = {one.name: one for one in latest()}
    ways = ("metrics and config alone", "with Observe", "with Observe, environment id hidden")
    right: dict[str, list[bool]] = {way: [] for way in ways}
    alarms: dict[str, list[bool]] = {way: [] for way in ways}
    lines = []
    for name, seen in facts.items():
        entry, label = entries()[name], known[entries()[name].instance.name]
        found = dict(zip(ways, _answers(records[name], entry, seen), strict=True))
        for way, said in found.items():
            if label.label == "fault":
                right[way].append(said.leading in label.accepted)
            else:
                alarms[way].append(said.alarm)
        lines.append(f"| {name} | {label.label} | {' | '.join(said.leading for said in found.values())} |")
    return "\n".join(
        [
            *_summary(ways, right, alarms),
            "",
            "| run | label | " + " | ".join(ways) + " |",
            "|---|---|---|---|---|",
            *lines,
        ]
    )


def _answers(record: Record, entry: Entry, seen: EnvironmentFacts) -> Sequence[Answer]:
    with tempfile.TemporaryDirectory() as place:
        run = read_record(record, entry, Path(place), config=True)
    if run is None:
        return (answer(None),) * 3
    with_facts = replace(run, examined=seen)
    return answer(run), answer(with_facts), answer(_hidden(with_facts))


def _hidden(run: Run) -> Run:
    """The run without the name of its environment."""
    settings = {key: value for key, value in run.config.settings.items() if key not in ("env_id", "environment")}
    native = {key: value for key, value in run.config.native.items() if "env" not in key}
    return replace(run, environment="", config=replace(run.config, settings=settings, native=native))


def _summary(ways: Sequence[str], right: Mapping[str, list[bool]], alarms: Mapping[str, list[bool]]) -> list[str]:
    lines = ["| diagnosis | right cause first | false alarms on clean runs |", "|---|---|---|"]
    return lines + [f"| {way} | {_share(right[way])} | {_share(alarms[way])} |" for way in ways]


def _share(hits: list[bool]) -> str:
    low, high = interval(sum(hits), len(hits))
    return f"{sum(hits)} of {len(hits)} ({100 * low:.0f}-{100 * high:.0f}%)"


def _train(name: str, target: str) -> None:
    """Train one entry and write the facts of its environments."""
    entry = entries()[name]
    patches.install(entry.instance.edits)
    import torch

    torch.set_num_threads(1)
    from rlclinic.facts.environment.measure import facts_of
    from rlclinic.readers.open import read

    with tempfile.TemporaryDirectory() as root:
        job._trained(entry, Path(root))
        folder = next(path.parent for path in Path(root).glob("*/observed.npz"))
        seen = read(folder).observed
    if seen is not None:
        facts = replace(facts_of(seen, "observed"), environment="")
        Path(target).write_text(json.dumps(_short(facts.to_json())), encoding="utf-8")


def _short(value: Any) -> Any:
    """Numbers with few digits; histograms are for people."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items() if key != "histograms"}
    return [_short(item) for item in value] if isinstance(value, list | tuple) else value


def _write(facts: Mapping[str, EnvironmentFacts]) -> None:
    rows = [json.dumps({"name": name, "facts": _short(found.to_json())}) for name, found in facts.items()]
    FACTS.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode(), mtime=0))


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(float(sys.argv[2]) if len(sys.argv) > 2 else 30.0)
    else:
        print(score())
