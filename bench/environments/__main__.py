"""`python -m bench.environments`: examine every case that is not recorded yet, then write the page.

Custom cases come first. It may be stopped and started again. `--page` only writes the page.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.environments import others
from bench.environments.case import Case
from bench.environments.cases import cases

RECORD = Path(__file__).with_name("record.jsonl")
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "environments.md"
CHECKS = tuple(f"src/rlclinic/{name}" for name in ("environment", "facts/environment", "rules/environment", "causes"))
SECONDS = 25.0
"""Budget of an examination."""
BLIND = ("fresh", "fresh healthy", "custom", "custom healthy", "people", "people healthy")
"""Sets that were labelled and committed before they were examined."""
ORDER = (*BLIND[2:], *BLIND[:2], "unseen", "healthy", "seen")


def main() -> None:
    """Record what is missing and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.environments")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--only", default="*", help="cases by pattern")
    parser.add_argument("--again", action="store_true", help="also those that are recorded")
    parser.add_argument("--others", action="store_true", help="also ask the other checkers about what is recorded")
    options = parser.parse_args()
    os.environ.update({"OMP_NUM_THREADS": "1", "SDL_VIDEODRIVER": "dummy"})
    if not options.page:
        known, now = {} if options.again else recorded(), commit()
        for name, case in sorted(cases().items(), key=lambda item: ORDER.index(item[1].part)):
            if name not in known and fnmatch.fnmatch(name, options.only):
                row = {**_examined(case), "commit": now}
                print(name, row["lead"], row["findings"], row["seconds"], flush=True)
                _record({name: row})
    from bench.environments.page import page_of

    if options.others:
        _record(others.said_of([name for name in recorded() if fnmatch.fnmatch(name, options.only)]))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page_of(cases(), recorded()), encoding="utf-8")


def recorded() -> Mapping[str, Mapping[str, Any]]:
    """The last record of each case that still is one."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    rows = {row["name"]: row for row in map(json.loads, lines)}
    return {name: rows[name] for name in cases() if name in rows}


def commit() -> str:
    """The checks as they are, by the last commit to them: rows recorded with others are not of one measurement."""
    command = ["git", "log", "-1", "--format=%h", "--", *CHECKS]
    found = subprocess.run(command, cwd=PAGE.parents[2], capture_output=True, text=True, check=False)
    return found.stdout.strip()


def _record(rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Add to what is known of cases; what a case of a blind set got at its first look stays."""
    known = dict(recorded())
    for name, row in rows.items():
        before = known.get(name, {})
        looked = {key: (before or row)[key] for key in ("lead", "findings", "commit") if key in (before or row)}
        first = before.get("first") or (looked if cases()[name].part in BLIND else None)
        known[name] = {**before, **row, **({"first": first} if first else {})}
    RECORD.write_text("".join(json.dumps(row) + "\n" for row in known.values()), encoding="utf-8")


def _examined(case: Case) -> dict[str, Any]:
    from rlclinic.engine import examine
    from rlclinic.environment.isolate import Request, examine_isolated

    facts = examine_isolated(Request("bench.environments.case:make", {"case": case.name}, SECONDS))
    found = examine(facts)
    return {
        "name": case.name,
        "lead": found.causes[0].id if found.causes else "",
        "probability": round(found.causes[0].probability, 2) if found.causes else 0.0,
        "findings": [f"{item.code} {item.severity.value}" for item in found.findings],
        "failed": [item.code for item in found.not_checked if item.error],
        "seconds": round(facts.seconds, 1),
    }


if __name__ == "__main__":
    main()
