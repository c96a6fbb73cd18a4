"""`python -m bench.calibrate [--write FOLDER]`: what the recorded runs say about the table of causes.

Rows are estimated from counts and tried on environments that were left out. They are written where they name more
causes there without more false alarms; else the values set by hand stay, and only the temperature is fitted.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import asdict
from pathlib import Path

from bench.calibrate.estimate import Estimate, estimate
from bench.calibrate.evidence import evidence
from bench.calibrate.left_out import BY_HAND, compared, sharpest
from bench.calibrate.table import differences, rewritten
from bench.faults import shards
from bench.faults.labels import labels
from rlclinic.causes.weights import Temperature, weights

TABLE = "weights.toml"


def main(arguments: list[str]) -> int:
    """Print what would change; write the table where asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="of the table, such as src/rlclinic/causes")
    chosen = parser.parse_args(arguments)
    records = shards.latest()
    seen = evidence(records, labels(records))
    table = weights().causes
    print(f"{len(seen)} runs of {len({one.environment for one in seen})} environments, each left out once:")
    results = compared(table, seen)
    for result in results:
        print(f"  {result}")
    trust = results[0].trust
    found = estimate(table, seen, trust=trust) if trust != BY_HAND else _as_they_are()
    for line in differences(table, found):
        print(line)
    estimated = sum(1 for entry in found.values() if entry.instances)
    print(f"{estimated} rows rest on recorded runs, {len(found) - estimated} are set by hand")
    fitted, errors = sharpest({cause: entry.row for cause, entry in found.items()}, seen)
    print(f"{fitted}, calibration errors {', '.join(f'{name} {error:.3f}' for name, error in errors.items())}")
    if chosen.write is not None:
        _write(chosen.write, found, fitted)
    return 0


def _as_they_are() -> dict[str, Estimate]:
    return {cause: Estimate(row, 0) for cause, row in weights().causes.items()}


def _write(folder: Path, found: dict[str, Estimate], fitted: Temperature) -> None:
    table = folder / TABLE
    text = rewritten(table.read_text(encoding="utf-8"), found)
    for name, value in asdict(fitted).items():
        text = re.sub(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
    table.write_text(text, encoding="utf-8")
    print(f"{table} written")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
