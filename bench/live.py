"""How early the right alert comes, and how often a wrong one: `python -m bench.live [--minutes M] [--again]`.

Recorded runs of the fault benchmark are diagnosed at every twentieth of their budget as if they still trained, with
their config, and the alerts that a user would have got are worked out from that. What was diagnosed is recorded in
bench/live.jsonl.gz with the commit whose rules did it, and diagnosed again only with --again; the rest goes on where
it was. The page is docs/benchmarks/live.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import live_overhead, live_runs
from bench.environments.__main__ import commit
from bench.faults.labels import labels
from bench.faults.onset import onsets
from bench.faults.plan import entries
from bench.faults.replay import cut, replay
from bench.faults.shards import latest
from bench.faults.split import sides
from rlclinic.engine import diagnose
from rlclinic.live.alerts import AlertBook
from rlclinic.live.conditions import QUIET, conditions_of
from rlclinic.model.diagnosis import Cause, Diagnosis, Verdict
from rlclinic.model.errors import RlclinicError
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run
from rlclinic.rules.registry import RULES

RECORD = Path(__file__).with_name("live.jsonl.gz")
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "live.md"
LOOKS = 20
NEVER = 9.0
"""Delay of what is never told, in budgets: more than any other."""
INTRODUCTION = """\
Written by `python -m bench.live`. {runs} recorded runs of the fault benchmark are replayed with their config and
looked at every {every:.0f}% of the budget. A fault counts where the
diagnosis of the whole run names it. Delays are medians, as shares of the budget after the onset of the effect: until
any alert is raised, and until one holds while an accepted cause leads. A fault that is never told counts as infinite.
What alerts wait for was first chosen with both parts in view, then changed with the calibration part alone; that the
cause of a standstill must hold was chosen after the false alerts of the test part were read. None of it is blind.
Diagnosed by the rules of {commits}.
"""
BY_CODE = {rule.code: rule for rule in RULES}


@dataclass(frozen=True, slots=True)
class Told:
    """What a user would have heard of one run."""

    side: str
    environment: str
    fault: bool
    shown: bool
    """Whether the diagnosis of the whole run leads with an accepted cause: fixed before any look at alerts."""
    onset: float
    first: float | None
    """Share of the budget at the first alert."""
    right: float | None
    """At the first look at which an alert holds and an accepted cause leads."""
    keys: tuple[str, ...]

    def delay(self, share: float | None) -> float:
        """From the onset of the effect, in budgets."""
        return max(share - self.onset, 0.0) if share is not None else NEVER


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.live", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="of processor time for runs not diagnosed yet")
    parser.add_argument("--again", action="store_true", help="forget what was diagnosed by other commits than this")
    asked = parser.parse_args()
    record(asked.minutes, again=asked.again)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(recorded()), encoding="utf-8")
    print(PAGE)


def recorded() -> list[dict[str, Any]]:
    """What was diagnosed so far."""
    if not RECORD.exists():
        return []
    return [json.loads(line) for line in gzip.decompress(RECORD.read_bytes()).decode().splitlines()]


def record(minutes: float, *, again: bool = False) -> None:
    """Diagnose what is missing, in an order that is mixed and always the same."""
    records, known = latest(), entries()
    label, onset, side = labels(records), onsets(records), sides()
    at = commit()
    rows = [row for row in recorded() if not again or row["at"] == at]
    done = {row["name"] for row in rows}
    random.Random(0).shuffle(records)
    began = time.process_time()
    for one in records:
        if time.process_time() - began > 60.0 * minutes:
            break
        instance = known[one.name].instance if one.name in known else None
        found = label.get(instance.name) if instance is not None else None
        if one.name in done or instance is None or found is None or found.label in ("unfinished", "edge"):
            continue
        with tempfile.TemporaryDirectory() as place:
            try:
                run = replay(one, instance, Path(place), config=True)
            except RlclinicError:
                continue
            parts = [_part(run, look / LOOKS) for look in range(1, LOOKS + 1)]
        rows.append(
            {
                "name": one.name, "at": at, "label": found.label, "accepted": sorted(found.accepted), "parts": parts,
                "onset": onset.get(instance.name, 1.0), "side": side[instance.name],
            }
        )  # fmt: skip
    RECORD.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode(), mtime=0))


def _part(run: Run, share: float) -> dict[str, Any]:
    found = diagnose(cut(run, share))
    return {
        "share": share,
        "verdict": found.verdict.value,
        "findings": [[item.code, item.severity.value] for item in found.findings if item.severity is not Severity.INFO],
        "causes": [[cause.id, cause.cause_class, round(cause.probability, 3)] for cause in found.causes[:3]],
    }


def told(row: dict[str, Any]) -> Told:
    """The alerts of one run, by the rules that users meet."""
    book, accepted = AlertBook(budget=1.0), frozenset(row["accepted"])
    first = right = None
    keys: tuple[str, ...] = ()
    *parts, whole = row["parts"]
    for part in parts:
        clears = part["verdict"] != Verdict.COLLAPSED
        changes = book.update(part["share"], conditions_of(_diagnosis(part)), clears=clears)
        if changes and first is None:
            first, keys = part["share"], tuple(condition.key for _, condition in changes)
        lead = next((cause for cause, _, _ in part["causes"] if cause not in QUIET), "")
        if book.active and right is None and lead in accepted:
            right = part["share"]
    shown = bool(whole["causes"]) and whole["causes"][0][0] in accepted
    environment = row["name"].partition("@")[2].partition("-")[0]
    return Told(row["side"], environment, row["label"] == "fault", shown, row["onset"], first, right, keys)


def _diagnosis(part: dict[str, Any]) -> Diagnosis:
    """As much of a diagnosis as alerts depend on."""
    findings = tuple(
        Finding(code, rule.title, rule.family, Severity(severity), 1.0, "", name=rule.name)
        for code, severity in (item[:2] for item in part["findings"])
        if (rule := BY_CODE.get(code)) is not None
    )
    causes = tuple(Cause(cause, family, "root", cause, share) for cause, family, share in part["causes"])
    return Diagnosis(Run("", ""), Verdict(part["verdict"]), "", findings, causes=causes)


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The page as markdown."""
    runs = [told(row) for row in rows]
    commits = ", ".join(sorted({row["at"] for row in rows}))
    columns = ("part", "faults", "any alert", "right cause leads", "told at all", "healthy runs", "ever alerting")
    lines = [
        "# Alerts on runs with known faults",
        "",
        INTRODUCTION.format(runs=len(runs), every=100 / LOOKS, commits=commits),
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
        *(_line(name, [run for run in runs if name in (run.side, "all")]) for name in ("calibration", "test", "all")),
        "",
        "Goals: a median delay of at most 0.25, at most 2% of healthy runs ever alerting.",
        "",
        *_left_out([run for run in runs if run.side == "calibration"]),
        *_false(runs),
        *_watched(),
        *_cost(),
    ]
    return "\n".join(lines) + "\n"


def _line(name: str, runs: Sequence[Told]) -> str:
    faults, healthy = [run for run in runs if run.fault and run.shown], [run for run in runs if not run.fault]
    if not faults or not healthy:
        return f"| {name} | {len(faults)} | – | – | – | {len(healthy)} | – |"
    first = _median(run.delay(run.first) for run in faults)
    right = _median(run.delay(run.right) for run in faults)
    told_at_all = sum(run.first is not None for run in faults) / len(faults)
    false = sum(run.first is not None for run in healthy)
    share = f"{false} ({100 * false / len(healthy):.1f}%)"
    return f"| {name} | {len(faults)} | {first} | {right} | {100 * told_at_all:.0f}% | {len(healthy)} | {share} |"


def _left_out(runs: Sequence[Told]) -> list[str]:
    """How much of what was chosen depends on one environment."""
    medians, shares = [], []
    for environment in {run.environment for run in runs}:
        rest = [run for run in runs if run.environment != environment]
        healthy = [run for run in rest if not run.fault]
        medians.append(statistics.median(run.delay(run.right) for run in rest if run.fault and run.shown))
        shares.append(sum(run.first is not None for run in healthy) / len(healthy))
    lines = [
        "With the environments of the calibration part left out in turn, the right cause leads after "
        f"{min(medians):.2f}",
        f"to {max(medians):.2f}, and {100 * min(shares):.1f}% to {100 * max(shares):.1f}% of healthy runs ever alert.",
    ]
    return [*lines, ""]


def _median(delays: Iterator[float]) -> str:
    middle = statistics.median(delays)
    return "never" if middle > 1 else f"{middle:.2f}"


def _false(runs: Sequence[Told]) -> list[str]:
    counts = Counter(key for run in runs if not run.fault for key in run.keys)
    if not counts:
        return ["No healthy run alerted."]
    return ["False alerts: " + ", ".join(f"`{key}` {count}" for key, count in counts.most_common()) + "."]


def _watched() -> list[str]:
    """Runs that really trained while they were watched."""
    lines = ["", "## Watched while they trained", ""]
    lines += [
        "`python -m bench.live_runs`: PPO on CartPole-v1, followed by its files alone. First alert in budgets.",
        "",
    ]
    lines += ["| fault | first alert | leading cause then |", "|---|---|---|"]
    for row in sorted(live_runs.recorded(), key=lambda row: (not row["fault"], row["fault"], row["seed"])):
        name = row["fault"] or f"none, seed {row['seed']}"
        first = f"{row['first']:.2f}" if row["first"] is not None else "none"
        lines.append(f"| {name} | {first} | {row['alerts'][0]['cause'] if row['alerts'] else ''} |")
    return lines


def _cost() -> list[str]:
    """What the callback takes."""
    lines = ["", "## What the callback costs", ""]
    lines += [
        "`python -m bench.live_overhead`: processor time of Stable-Baselines3 with the callback over that without, in",
        "pairs of equal seed that take turns of some hundredths of a second, with a 95% interval of the mean.",
        "Goals: less than 1% inside, and an upper bound below 1.05 over 20 pairs.",
        "",
    ]
    lines += ["| algorithm | pairs | inside the callback | ratio | 95% interval |", "|---|---|---|---|---|"]
    for algorithm in live_overhead.TRAININGS:
        found = live_overhead.summary(algorithm)
        if found["pairs"]:
            numbers = (
                f"{100 * found['share']:.2f}% | {found['ratio']:.3f} | {found['lower']:.3f} to {found['upper']:.3f}"
            )
            lines.append(f"| {algorithm} | {found['pairs']:.0f} | {numbers} |")
    return lines


if __name__ == "__main__":
    main()
