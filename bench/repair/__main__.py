"""`python -m bench.repair [--seeds N] [--workers N] [--part PART] [TASK ...]`: treat every faulty configuration.

It can be stopped at any time and goes on where it was. `python -m bench.lab_report` makes the summary.
"""

from __future__ import annotations

import argparse

from bench.repair.run import PARTS, run


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.repair", description=__doc__)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this one; repeatable")
    asked = parser.parse_args()
    run(tuple(range(asked.seeds)), asked.workers, tuple(asked.tasks), tuple(asked.part or PARTS))


if __name__ == "__main__":
    main()
