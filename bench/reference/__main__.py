"""`python -m bench.reference record | write | score`."""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.reference", description="Known-good runs.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    record = verbs.add_parser("record", help="train what is missing; kill and repeat at will")
    record.add_argument("--only", default="", help="a part of the names, such as 'CartPole-v1:DQN#'")
    record.add_argument("--minutes", type=float)
    verbs.add_parser("write", help="condense the healthy runs into the package")
    verbs.add_parser("score", help="where planted differences are ranked, and what the bands hold")
    chosen = parser.parse_args(arguments)
    if chosen.verb == "record":
        from bench.reference.record import record as go_on

        print(f"{go_on(chosen.only, chosen.minutes)} runs recorded")
    elif chosen.verb == "write":
        from bench.reference.condense import write

        write()
    else:
        from bench.reference.score import score

        score()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
