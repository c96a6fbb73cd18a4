"""`python -m bench.faults plan | bases | record | labels | score | fresh | known`."""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from bench.faults import shards
from bench.faults.bases import REACHED_WITHIN, bases, measured_floor
from bench.faults.fresh import PARTS, develop, into_page, part_of, predict, score, sections
from bench.faults.plan import Instance, entries, plan

PAGE = Path("docs/benchmarks/diagnosis.md")
EXPLAINED = Path(__file__).with_name("explained.toml")


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description="The fault benchmark.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("plan", help="what is recorded and what is left")
    verbs.add_parser("bases", help="whether clean runs reach their targets, and what runs cost")
    record = verbs.add_parser("record", help="record what is missing; kill and repeat at will")
    record.add_argument("--workers", type=int, default=1)
    record.add_argument("--limit", type=int)
    record.add_argument("--minutes", type=float)
    record.add_argument("--retry", action="store_true", help="try again what was given up")
    record.add_argument("--only", default="*", help="a pattern of names, such as 'clean@*#0'")
    verbs.add_parser("labels", help="what the data say about every instance")
    score = verbs.add_parser("score", help="diagnose the recorded runs and write docs/benchmarks/diagnosis.md")
    score.add_argument("--workers", type=int, default=2)
    score.add_argument("--page", type=Path, default=PAGE)
    score.add_argument("--part", choices=("test", "calibration"), default="test", help="calibration: print, no page")
    score.add_argument("--peers", metavar="PYTHON", help="of an environment with bench/peers/requirements.txt")
    for part in PARTS:
        beside = verbs.add_parser(part.name, help=f"{part.heading[3:].lower()}: record, predict, score into the page")
        beside.add_argument("step", choices=("record", "develop", "predict", "score"), help="commit before scoring")
        beside.add_argument("--minutes", type=float, help="of recording")
        beside.add_argument("--only", default="*", help="a pattern of names to record")
        beside.add_argument("--again", action="store_true", help="predict anew: one more look")
        beside.add_argument("--page", type=Path, default=PAGE)
    chosen = parser.parse_args(arguments)
    if chosen.verb == "record":
        from bench.faults.record import record as go_on

        how = {key: getattr(chosen, key) for key in ("workers", "limit", "minutes", "only", "retry")}
        print(f"{go_on(plan(), **how)} runs recorded")
    elif chosen.verb == "plan":
        _plan()
    elif chosen.verb == "bases":
        _bases()
    elif chosen.verb == "labels":
        _labels()
    elif chosen.verb in {part.name for part in PARTS}:
        _beside(chosen)
    elif chosen.part == "calibration":
        _score_calibration(chosen.workers)
    else:
        _score(chosen.workers, chosen.page, chosen.peers)
    return 0


def _plan() -> None:
    recorded = {name: key for name, key in shards.keys().items() if name in entries()}
    for part in ("kind", "layout", "profile", "group"):
        planned = Counter(getattr(entry.instance, part) or "none" for entry in plan())
        done = Counter(getattr(entries()[name].instance, part) or "none" for name in recorded)
        print(f"{part}: " + ", ".join(f"{name} {done[name]}/{count}" for name, count in sorted(planned.items())))
    size = sum(path.stat().st_size for path in shards.FOLDER.glob("shard-*.rlc"))
    stale = sum(entries()[name].key() != key for name, key in recorded.items())
    print(f"{len(recorded)} of {len(plan())} runs recorded, {stale} of them with other settings, {size / 1e6:.2f} MB")


def _bases() -> None:
    from bench.faults.labels import final, reached

    runs: dict[str, list[shards.Record]] = defaultdict(list)
    seconds: dict[str, list[float]] = defaultdict(list)
    for record in shards.latest():
        entry = entries().get(record.name)
        if entry is not None:
            runs[entry.instance.name].append(record)
            seconds[entry.instance.base].append(record.seconds)
    for name, base in bases().items():
        clean = runs[Instance("clean", name).name]
        shares = [reached(record, base.target) for record in clean]
        good = sum(share is not None and share <= REACHED_WITHIN for share in shares)
        levels = ", ".join(f"{final(record, 'evaluation'):.4g}" for record in clean)
        cost = f"{np.mean(seconds[name]):.0f} s a run" if seconds[name] else "no run yet"
        print(
            f"{name}: {good} of {len(clean)} reach {base.target:g} within {REACHED_WITHIN:.0%} (at "
            f"{', '.join('never' if share is None else f'{share:.2f}' for share in shares)}); final {levels}; "
            f"random {measured_floor(base):.4g}, in the table {base.random:.4g}; {cost}"
        )


def _labels() -> None:
    from bench.faults.labels import labels

    found = labels(shards.latest())
    for name, label in sorted(found.items()):
        low, high = label.interval
        lost = f"lost {label.lost:.2f} [{low:.2f}, {high:.2f}]"
        print(f"{name}  {label.label}  {lost}  {label.seeds} seeds  {' '.join(label.merged)}")
    print(Counter(label.label for label in found.values()))


def _beside(chosen: argparse.Namespace) -> None:
    part = part_of(chosen.verb)
    if chosen.step == "record":
        from bench.faults.record import record

        planned = list(part.entries.values())
        print(f"{record(planned, minutes=chosen.minutes, only=chosen.only, folder=part.folder)} runs recorded")
    elif chosen.step == "develop":
        print(develop(part))
    elif chosen.step == "predict":
        print(f"{predict(part, part.folder, again=chosen.again)} runs predicted")
    else:
        print(score(part, part.folder))
        chosen.page.write_text(into_page(chosen.page.read_text(encoding="utf-8"), sections()), encoding="utf-8")


def _score_calibration(workers: int) -> None:
    """What tuning may look at: nothing of the test part is diagnosed."""
    from bench.faults.examine import rows
    from bench.faults.labels import labels
    from bench.faults.onset import onsets
    from bench.faults.page import results
    from bench.faults.split import sides

    records = [record for record in shards.latest() if record.name in entries()]
    chosen = [record for record in records if sides()[entries()[record.name].instance.name] == "calibration"]
    found = rows(chosen, labels(records), workers=workers)
    print("\n\n".join(section for section in results(found, "calibration", onsets(records)) if section))


def _score(workers: int, path: Path, peers: str | None) -> None:
    from bench.faults.examine import rows
    from bench.faults.labels import labels
    from bench.faults.onset import onsets
    from bench.faults.page import page
    from bench.peers.compare import section

    records = shards.latest()
    found = labels(records)
    explained = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))
    beside = section(records, found, peers) if peers else ""
    text = page(rows(records, found, workers=workers), found, onsets(records), explained, beside, sections())
    path.write_text(text, encoding="utf-8")
    print(text.partition("## Instances")[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
