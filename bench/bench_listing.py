"""1,000 small run folders: listed cold, and again from the index."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

from rlclinic.store.index import RunIndex
from rlclinic.store.listing import list_runs

SOURCE = Path(__file__).parents[1] / "tests" / "fixtures" / "runs" / "sb3" / "ppo_cartpole"
RUNS = 1_000
GOALS = {"cold": 20.0, "index": 1.0}


def main() -> dict[str, float]:
    """Print the seconds of both looks beside their goals."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(RUNS):
            shutil.copytree(SOURCE, root / "runs" / f"run_{number:04d}")
        index = RunIndex(root / "index.sqlite")
        result = {"cold": _seconds(root / "runs", index, 0), "index": _seconds(root / "runs", index, RUNS)}
    for name, seconds in result.items():
        print(f"listing   {name:8s} {seconds:.2f} s for {RUNS} runs (goal {GOALS[name]} s)")
    return result


def _seconds(root: Path, index: RunIndex, expected_from_index: int) -> float:
    start = time.perf_counter()
    listing = list_runs(root, index=index)
    seconds = time.perf_counter() - start
    assert len(listing.summaries) == RUNS
    assert listing.from_index == expected_from_index
    return seconds


if __name__ == "__main__":
    main()
