"""Run every benchmark, or those named: `python -m bench [tfevents wandb ... diagnose]`."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("tfevents", "wandb", "csv", "jsonl", "console", "startup", "listing", "diagnose", "mcp")


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(NAMES)}")
        return 2
    for name in names or NAMES:
        import_module(f"bench.bench_{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
