"""`python -m bench.peers PYTHON`: the comparison on the recorded runs, with the python of the peers' environment."""

from __future__ import annotations

import sys

from bench.faults import shards
from bench.faults.labels import labels
from bench.peers.compare import section


def main(arguments: list[str]) -> int:
    """Print the section."""
    if len(arguments) != 1:
        print("usage: python -m bench.peers PYTHON   (of an environment with bench/peers/requirements.txt)")
        return 2
    records = shards.latest()
    print(section(records, labels(records), arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
