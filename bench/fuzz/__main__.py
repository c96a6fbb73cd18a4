"""Mutated inputs through parsers, readers and diagnoses.

`python -m bench.fuzz [parsers] [diagnose] [guided]` runs levels, `python -m bench.fuzz replay --keep FOLDER` runs
what was kept. The exit code is 1 where anything but a documented error was raised or an input took too long.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from pathlib import Path
from typing import Any

from bench.fuzz.record import note
from bench.fuzz.seeds import ROOT
from bench.fuzz.work import DOCUMENTED, LEVELS, Tally, attempt, fuzz, keep, kept, shrunk

COUNTS = {"parsers": 1_000_000, "diagnose": 20_000}
CRASHES = ROOT / "bench" / "data" / "crashes"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("levels", nargs="*", metavar="LEVEL", help="parsers, diagnose, guided (all three) or replay")
    parser.add_argument("--count", type=int, help="inputs per level (1,000,000 and 20,000)")
    parser.add_argument("--seconds", type=float, default=1e9, help="at most this long per level")
    parser.add_argument("--cpu-seconds", type=float, default=7_200, help="of the guided level, over all processes")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=CRASHES, help="where small failing inputs are put")
    parser.add_argument("--record", action="store_true", help="add what was measured to bench/fuzz/record.json")
    options = parser.parse_args()
    levels = options.levels or [*LEVELS, "guided"]
    if unknown := set(levels) - {*LEVELS, "guided", "replay"}:
        parser.error(f"no such level: {', '.join(sorted(unknown))}")
    return max(_replay(options.keep) if level == "replay" else _level(level, options) for level in levels)


def _level(level: str, options: argparse.Namespace) -> int:
    print(f"{level}: seed {options.seed}, {options.processes} processes", flush=True)
    started = _children_seconds()
    if level == "guided":
        from bench.fuzz.guided import guided

        # Some of it may be of an earlier call that was interrupted.
        tally, seconds, tool = guided(options.seed, options.cpu_seconds, options.processes)
    else:
        count = options.count or COUNTS[level]
        tally = fuzz(level, options.seed, count, seconds=options.seconds, processes=options.processes)
        seconds, tool = _children_seconds() - started, ""
    row = _row(tally, seconds, options, tool)
    print(json.dumps(row, indent=1))
    for failure in sorted(tally.failures.values(), key=lambda item: -item.count):
        small = shrunk(failure)
        print(f"  {small.count:>6} x {small.where}: {small.what}")
        print(f"           {small.target} {small.number}, {small.size} bytes: {keep(small, options.keep)}", flush=True)
    for place in sorted(tally.warned):
        print(f"  warning at {place}")
    if options.record:
        note(level, row)
    return int(bool(tally.failures))


def _row(tally: Tally, seconds: float, options: argparse.Namespace, tool: str) -> dict[str, Any]:
    slowest, target, number = tally.slowest
    return {
        "inputs": tally.inputs,
        "refused": tally.refused,
        "cpu_seconds": round(seconds),
        "seed": options.seed,
        "failures": {failure.where: failure.count for failure in tally.failures.values()},
        "slowest_seconds": round(slowest, 2),
        "slowest": f"{target} {number}",
        "peak_mb": tally.peak >> 20,
        "grown_mb": tally.grown >> 20,
        **({"tool": tool} if tool else {}),
    }


def _children_seconds() -> float:
    told = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told.ru_utime + told.ru_stime


def _replay(folder: Path) -> int:
    failed = 0
    for place, case in kept(folder):
        try:
            found = attempt(case)
        except DOCUMENTED:
            found = None
        failed += found is not None
        print(f"{'FAILED' if found else 'ok':7}{place.parent.name}/{place.name} {': '.join(found or ())}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
