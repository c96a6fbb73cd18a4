"""What became right and wrong since a commit: `python -m bench.paired BASE` writes docs/benchmarks/paired.md.

Both checkouts diagnose the same runs: the labelled corpora beside the repository, the recorded fault runs, with and
without their config, and those runs of the repair record whose files are there (`python -m bench.repair --part
first-runs` trains them). Each question has one right answer, so every run is right or wrong before and after. What an
old commit needs beside this one's libraries is found on PYTHONPATH. `--part 3/8 --keep FILE` does one of eight parts
and writes the page of all parts that the file holds; `--only "repair record"` replaces those rows of the page alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bench.corpus import Answer, known_of
from bench.corpus import labels as corpus_labels
from bench.faults.examine import FINE
from bench.faults.labels import Label, labels
from bench.faults.plan import Entry, entries
from bench.faults.replay import write
from bench.faults.shards import latest
from bench.repair.score import patients
from bench.repair.training import ROOT as TRAINED
from bench.repair.treatment import RESTORED
from bench.same import CORPORA, ROOT, compared
from rlclinic.causes.catalogue import UNKNOWN

PAGE = ROOT / "docs" / "benchmarks" / "paired.md"
QUIET = {*FINE, UNKNOWN}
HARMLESS = ("healthy", "benign")
REASONS = {
    "C1.narrow@point-ppo": "each update replaces most of so narrow a policy, which is told as too high a learning rate",
    "D8.every-step@frozenlake-dqn": "its return still rises at the end, which the verdict says now",
    "D11.mean@room-dqn": "its return swings, which the verdict says now; a bug explains that less",
    "D12.flipped@mountaincar-ppo": "every episode costs its whole length, as where a reward is never seen",
    "D14.renewed@cartpole-ppo": "the learning rate as logged counts now and is ordinary: the entropy that fell leads",
    "E4.sgd": "the learning rate as logged counts now and is ordinary; no metric shows another optimiser",
    "F3.two@frozenlake-dqn": "a return that is always zero speaks for a sparse reward more than a batch of two does",
    "F8.copies@point-sac": "its evaluations decide now, and they rise",
    "G4.per-step@point-ppo": "its return rises, which speaks for a sound run more than it did",
}
"""Why an answer that was right is not any more, by the beginning of the run's name."""

SOURCES = {
    "corpora": "the labelled runs of others",
    "faults": "the recorded fault runs",
    "repair record": "runs of the repair record",
}

Told = Mapping[str, Any]
"""What `bench.same` keeps of a diagnosis."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that is right or wrong about the answer for one run."""

    row: str
    run: str
    is_right: Callable[[Told], bool]


class Pair(NamedTuple):
    """Whether the answer for one run was right before and is right after."""

    row: str
    run: str
    was_right: bool
    is_right: bool
    said: str


@dataclass(slots=True)
class Row:
    """The runs of one question, by what they were before and are after."""

    counts: dict[tuple[bool, bool], int] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)

    def add(self, pair: Pair) -> None:
        """Count one run, and name it where it was right before."""
        which = pair.was_right, pair.is_right
        self.counts[which] = self.counts.get(which, 0) + 1
        if which == (True, False):
            why = next((why for run, why in REASONS.items() if pair.run.startswith(run)), "reason not known")
            self.losses.append(f"{pair.run}: {pair.said}; {why}")

    def line(self, name: str) -> str:
        """The row of the table."""
        both, lost, won = (self.counts.get(pair, 0) for pair in ((True, True), (True, False), (False, True)))
        return f"| {name} | {sum(self.counts.values())} | {both + lost} | {both + won} | {won} | {lost} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.paired", description=__doc__)
    parser.add_argument("base", help="a commit")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="one of so many parts of the runs")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="what other parts found, to which this one adds")
    parser.add_argument("--only", choices=SOURCES, help="runs of one kind, whose rows are replaced on the page")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    kept: dict[str, list[list[Any]]] = {}
    if options.keep is not None and options.keep.is_file():
        kept = json.loads(options.keep.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        kinds = {
            "corpora": lambda: islice(_corpora(), part - 1, None, parts),
            "repair record": lambda: islice(_repairs(), part - 1, None, parts),
            "faults": lambda: _faults(folder, slice(part - 1, None, parts)),
        }
        asked = dict(pair for kind, found in kinds.items() if options.only in (None, kind) for pair in found())
        answers = compared(options.base, list(asked), folder)
    if answers is None:
        raise SystemExit(2)
    kept[options.part] = [
        list(_pair(question, answers[0][path], answers[1][path]))
        for path, questions in asked.items()
        for question in questions
    ]
    if options.keep is not None:
        options.keep.write_text(json.dumps(kept), encoding="utf-8")
    rows: dict[str, Row] = {}
    for pair in (Pair(*values) for found in kept.values() for values in found):
        rows.setdefault(pair.row, Row()).add(pair)
    text = _page(options.base, f"{len(kept)} of {parts} parts of " if len(kept) < parts else "", rows)
    if options.only is not None:
        text = _merged(PAGE.read_text(encoding="utf-8"), text, options.only)
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def _pair(question: Question, before: Told, after: Told) -> Pair:
    said = f"{_said(before)} -> {_said(after)}"
    return Pair(question.row, question.run, question.is_right(before), question.is_right(after), said)


def _corpora() -> Iterator[tuple[str, list[Question]]]:
    number = 0
    for corpus in CORPORA:
        for label in corpus_labels(corpus) if (corpus / "labels.yaml").is_file() else ():
            number += 1
            known = known_of(label)
            name = (
                f"run {number} of others ({', '.join(known['verdicts'])}; {', '.join(known['accepted']) or 'no cause'})"
            )
            made = _answers(known)
            empty = made({})
            rights: dict[str, Callable[[Answer], bool]] = {
                "acceptable verdict": lambda answer: answer.acceptable,
                "no clear mistake": lambda answer: not answer.mistake,
            }
            if empty.healthy:
                rights["learning run not accused"] = lambda answer: not answer.accused
            if empty.failed:
                rights["right cause first"] = lambda answer: answer.named(1)
                rights["right cause among three"] = lambda answer: answer.named(3)
            yield (
                str(corpus / label["path"]),
                [Question(f"corpora: {row}", name, _asking(right, made)) for row, right in rights.items()],
            )


def _answers(known: dict[str, Any]) -> Callable[[Told], Answer]:
    def made(told: Told) -> Answer:
        causes = [(cause, share) for cause, share, *_ in told.get("causes", ())]
        return Answer(**known, verdict=told.get("verdict") or "unread", causes=causes, findings=[])

    return made


def _asking(right: Callable[[Answer], bool], made: Callable[[Told], Answer]) -> Callable[[Told], bool]:
    return lambda told: right(made(told))


def _faults(folder: Path, part: slice) -> Iterator[tuple[str, list[Question]]]:
    known, records = entries(), latest()
    found = labels(records)
    for number, record in enumerate(records[part]):
        entry = known.get(record.name)
        label = found.get(entry.instance.name) if entry is not None else None
        if entry is None or label is None or label.label not in {"fault", *HARMLESS}:
            continue
        for config in (True, False) if not record.files else (True,):
            path = write(record, entry.instance, folder / "faults" / f"{number:04d}", config=config)
            yield str(path), list(_about(entry, label, record.name, config=config))


def _about(entry: Entry, label: Label, name: str, *, config: bool) -> Iterator[Question]:
    part = "faults, with config" if config else "faults, metrics only"
    if label.label in HARMLESS:
        yield Question(f"{part}: no false alarm", name, lambda told: not _causes(told) or _causes(told)[0] in QUIET)
        return
    yield Question(f"{part}: right cause first", name, lambda told: bool(label.accepted & {*_causes(told)[:1]}))
    yield Question(f"{part}: right cause among three", name, lambda told: bool(label.accepted & {*_causes(told)[:3]}))
    right = _healthy_settings(entry)
    if config and right:
        yield Question(f"{part}: advice turns the faulty setting back", name, lambda told: _turns_back(told, right))


def _repairs() -> Iterator[tuple[str, list[Question]]]:
    """Of faulty configs the change that healed them at once, of clean ones that there is none to make."""
    for patient in patients():
        folder, first = (TRAINED / patient["key"]).absolute(), patient["rounds"][0]
        name = f"{patient['task']} {patient['fault'] or 'clean'}#{patient['seed']}"
        if not folder.is_dir():
            continue
        if not patient["fault"]:
            yield str(folder), [Question("repair record: clean run is advised no change", name, _changes_nothing)]
        elif first["applied"] is not None and first["after"] >= RESTORED:
            healed = first["advice"][first["applied"]]["changes"]
            yield str(folder), [Question("repair record: first change as the one that healed", name, _heals(healed))]


def _heals(changes: Mapping[str, Any]) -> Callable[[Told], bool]:
    def heals(told: Told) -> bool:
        first = next((item for item in told.get("prescriptions", ()) if json.loads(item[4])), None)
        return first is not None and _turns_back({"prescriptions": [first]}, changes)

    return heals


def _changes_nothing(told: Told) -> bool:
    return not any(json.loads(item[4]) for item in told.get("prescriptions", ()))


def _healthy_settings(entry: Entry) -> dict[str, Any]:
    """The settings that the fault changed, as they were before it."""
    from bench.faults.bases import base_of
    from bench.faults.catalogue import faults

    recipe = base_of(entry.instance.base).recipe(entry.seed)
    keys = {key for fault, level in entry.instance.injected for key in faults()[fault].levels[level].touched}
    return {key: value for key in keys if (value := recipe.get(key)) is not None}


def _turns_back(told: Told, right: Mapping[str, Any]) -> bool:
    changes = [change for item in told.get("prescriptions", ()) for change in json.loads(item[4])]
    return any(change["key"] in right and _is_nearer(change, right[change["key"]]) for change in changes)


def _is_nearer(change: Mapping[str, Any], right: Any) -> bool:
    before, after = change["from"], change["to"]
    if all(isinstance(value, int | float) for value in (before, after, right)):
        return abs(after - right) < abs(before - right)
    return bool(after == right)


def _causes(told: Told) -> list[str]:
    return [cause for cause, *_ in told.get("causes", ())]


def _said(told: Told) -> str:
    led = ", ".join(f"{cause} {share:.2f}" for cause, share, *_ in told.get("causes", ())[:2])
    return f"{told.get('verdict') or told['error']}, {led or 'no cause'}"


def _merged(page: str, text: str, only: str) -> str:
    """A page with the rows and losses of one kind as another page has them, and when those were made."""
    marks, fresh = (f"| {only}", f"- {only}", only.capitalize()), text.splitlines()
    lines = [line for line in page.splitlines() if not line.startswith(marks)]
    table, losses = lines.index(next(line for line in lines if line.startswith("| question"))), lines.index("## Losses")
    made = f"{only.capitalize()}: {next(line for line in fresh if line.startswith('Written'))}"
    head = "\n".join(lines[:table]).rstrip("\n")
    rows = sorted([*lines[table + 2 : losses - 1], *(line for line in fresh if line.startswith(marks[0]))])
    lost = [*lines[losses + 2 :], *(line for line in fresh if line.startswith(marks[1]))]
    return "\n".join([head, "", made, "", *lines[table : table + 2], *rows, "", "## Losses", "", *lost]) + "\n"


def _page(base: str, share: str, rows: Mapping[str, Row]) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    looked_at = " and ".join(words for start, words in SOURCES.items() if any(name.startswith(start) for name in rows))
    lines = [
        "# What became right and what became wrong",
        "",
        f"Written by `python -m bench.paired {base}` at {commit.stdout.strip()}: both commits diagnose the same runs, "
        f"{share}{looked_at}. Rules and weights were changed with a look at most of them, so the numbers are "
        "in-sample.",
        "",
        f"| question | runs | right at {base} | right now | wrong to right | right to wrong |",
        "|---|---|---|---|---|---|",
        *(row.line(name) for name, row in sorted(rows.items())),
        "",
        "## Losses",
        "",
        *(f"- {name}: {loss}" for name, row in sorted(rows.items()) for loss in row.losses),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
