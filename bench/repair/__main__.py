"""`python -m bench.repair [--seeds N] [--workers N] [TASK ...]`: treat every faulty configuration.

It can be stopped at any time and goes on where it was. `python -m bench.lab_report` makes the summary.
"""

from __future__ import annotations

import argparse

from bench.repair.run import run


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.repair", description=__doc__)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    run(tuple(range(asked.seeds)), asked.workers, tuple(asked.tasks))


if __name__ == "__main__":
    main()
