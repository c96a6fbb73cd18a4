"""`python -m bench.calibrate [--write FOLDER]`: what the recorded runs say about the table of likelihoods.

Rows are estimated from counts and tried on environments that were left out. They are written where they name more
causes there without more false alarms; else the values set by hand stay, and only the sharpness is fitted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.calibrate.estimate import Estimate, estimate
from bench.calibrate.evidence import evidence
from bench.calibrate.left_out import BY_HAND, compared, sharpest
from bench.calibrate.table import differences, rewritten
from bench.faults import shards
from bench.faults.labels import labels
from rlclinic.causes.likelihoods import likelihoods
from rlclinic.causes.sharpness import Sharpness

TABLE, SHARPNESS = "likelihoods.toml", "sharpness.toml"


def main(arguments: list[str]) -> int:
    """Print what would change; write the tables where asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="of both tables, such as src/rlclinic/causes")
    chosen = parser.parse_args(arguments)
    records = shards.latest()
    seen = evidence(records, labels(records))
    table = likelihoods()
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
    return {cause: Estimate(row, 0) for cause, row in likelihoods().items()}


def _write(folder: Path, found: dict[str, Estimate], fitted: Sharpness) -> None:
    table, sharp = folder / TABLE, folder / SHARPNESS
    table.write_text(rewritten(table.read_text(encoding="utf-8"), found), encoding="utf-8")
    kept = [line for line in sharp.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    values = [f"with_config = {fitted.with_config}", f"without_config = {fitted.without_config}"]
    sharp.write_text("\n".join([*kept, *values]) + "\n", encoding="utf-8")
    print(f"{table} and {sharp} written")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
