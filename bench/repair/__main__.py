"""`python -m bench.repair [--seeds N] [--workers N] [--part PART] [--left] [TASK[/FAULT] ...]`: treat faulty configs.

A patient is diagnosed anew by the rules of today; what was trained before is taken from the record, and trained again
only where its files are to be diagnosed and are not there. It can be stopped at any time and goes on where it was.
`python -m bench.lab_report` makes the summary.
"""

from __future__ import annotations

import argparse

from bench.repair.run import FIRST_RUNS, PARTS, run


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.repair", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK[/FAULT]")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", choices=(FIRST_RUNS, *PARTS), action="append", help="only this one; repeatable")
    parser.add_argument("--left", action="store_true", help="skip patients whose record ends at the bar")
    asked = parser.parse_args()
    run(tuple(range(asked.seeds)), asked.workers, tuple(asked.tasks), tuple(asked.part or PARTS), left=asked.left)


if __name__ == "__main__":
    main()
