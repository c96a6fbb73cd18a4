"""`python -m bench.calibrate [--write FILE]`: what the recorded runs say about the table of likelihoods."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path

from bench.calibrate.estimate import estimate
from bench.calibrate.evidence import evidence
from bench.calibrate.table import differences, rewritten
from bench.faults import shards
from bench.faults.labels import labels
from rlclinic.causes.likelihoods import likelihoods


def main(arguments: list[str]) -> int:
    """Print what would change; write the table where asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.calibrate")
    parser.add_argument("--write", type=Path, help="the file to write, such as src/rlclinic/causes/likelihoods.toml")
    chosen = parser.parse_args(arguments)
    records = shards.latest()
    seen = evidence(records, labels(records))
    table = likelihoods()
    found = estimate(table, seen)
    for line in differences(table, found):
        print(line)
    estimated = sum(1 for entry in found.values() if entry.instances)
    print(f"{len(seen)} runs; {estimated} rows estimated, {len(found) - estimated} set by hand")
    if chosen.write is not None:
        text = files("rlclinic.causes").joinpath("likelihoods.toml").read_text(encoding="utf-8")
        chosen.write.write_text(rewritten(text, found), encoding="utf-8")
        print(f"{chosen.write} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
