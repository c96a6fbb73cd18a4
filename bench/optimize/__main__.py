"""`python -m bench.optimize [--seeds N] [--runs N] [--workers N]`: search from every start with both methods.

It can be stopped at any time and goes on where it was. `python -m bench.lab_report` makes the summary.
"""

from __future__ import annotations

import argparse

from bench.optimize.run import run


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.optimize", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=8, help="whole runs that the budget of a search holds")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    run(asked.seeds, asked.runs, asked.workers)


if __name__ == "__main__":
    main()
