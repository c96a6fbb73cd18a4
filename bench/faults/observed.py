"""Groups A and B once more with what `Observe` sees: facts about the environments, kept beside the recorded runs.

`python -m bench.faults.observed record` trains the chosen entries again (training is the same with and without
Observe) and keeps their facts; `score` diagnoses the recorded runs with and without these facts and keeps the answers
for docs/benchmarks/environments.md.
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

from bench.environments.__main__ import commit
from bench.faults import job, patches
from bench.faults.examine import Answer, answer, read_record
from bench.faults.labels import Label, labels
from bench.faults.plan import Entry, entries
from bench.faults.shards import Record, latest
from bench.repair.score import interval
from rlclinic.model.environment_facts import EnvironmentFacts, facts_of_json
from rlclinic.model.run import Run

FACTS = Path(__file__).with_name("observed.jsonl.gz")
ANSWERS = Path(__file__).with_name("observed_answers.jsonl")
WAYS = ("metrics and config alone", "with Observe", "with Observe, environment id hidden")
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
    rows, now = _rows(), commit()
    end = time.monotonic() + 60.0 * minutes
    context = multiprocessing.get_context("spawn")
    for entry in chosen():
        if entry.name in rows or time.monotonic() > end:
            continue
        with tempfile.TemporaryDirectory() as place:
            target = Path(place) / "facts.json"
            process = context.Process(target=_train, args=(entry.name, str(target)))
            process.start()
            process.join(LONGEST)
            process.kill()
            if target.exists():
                found = json.loads(target.read_text(encoding="utf-8"))
                rows[entry.name] = {"name": entry.name, "commit": now, "facts": found}
                FACTS.write_bytes(
                    gzip.compress("".join(json.dumps(row) + "\n" for row in rows.values()).encode(), mtime=0)
                )
                print(entry.name, flush=True)


def _rows() -> dict[str, dict[str, Any]]:
    """The facts that were kept, by entry, with the commit of what measured them."""
    if not FACTS.exists():
        return {}
    with gzip.open(FACTS, "rt", encoding="utf-8") as file:
        return {row["name"]: row for row in map(json.loads, file)}


def score() -> None:
    """Diagnose with and without what was observed, and with the environment's id hidden; keep what was said."""
    known, _ = labelled()
    records = {one.name: one for one in latest()}
    lines, now = [], commit()
    for name, row in _rows().items():
        entry, label = entries()[name], known[entries()[name].instance.name]
        said = _answers(records[name], entry, facts_of_json(row["facts"]))
        answers = {way: [one.leading, one.alarm] for way, one in zip(WAYS, said, strict=True)}
        accepted = sorted(label.accepted) if label.label == "fault" else []
        lines.append({"name": name, "accepted": accepted, "answers": answers, "facts": row["commit"], "commit": now})
        print(name, *(one[0] for one in answers.values()), flush=True)
    ANSWERS.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def page_lines() -> list[str]:
    """What the answers come to, for the page."""
    if not ANSWERS.exists():
        return []
    rows = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
    faults, clean = [row for row in rows if row["accepted"]], [row for row in rows if not row["accepted"]]
    lines = ["| diagnosis | right cause first | false alarms on clean runs |", "|---|---|---|"]
    for way in WAYS:
        right = [row["answers"][way][0] in row["accepted"] for row in faults]
        lines.append(f"| {way} | {_share(right)} | {_share([row['answers'][way][1] for row in clean])} |")
    lines += ["", "| run | accepted | " + " | ".join(WAYS) + " |", "|---|---|---|---|---|"]
    for row in rows:
        told = " | ".join(row["answers"][way][0] for way in WAYS)
        lines.append(f"| {row['name']} | {', '.join(row['accepted']) or 'healthy'} | {told} |")
    return lines


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


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(float(sys.argv[2]) if len(sys.argv) > 2 else 30.0)
    else:
        score()
