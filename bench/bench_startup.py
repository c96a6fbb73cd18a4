"""From shell to output: `import rlclinic`, `rlclinic show` and the answer of `rlclinic diagnose` on a small run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

RUN = Path(__file__).parents[1] / "tests" / "fixtures" / "runs" / "sb3" / "ppo_cartpole"
REPEATS = 7
GOALS = {"import": 0.25, "show": 0.7, "answer": 0.6}


def main() -> dict[str, float]:
    """Print the medians in seconds beside their goals, and beside an empty Python."""
    medians = {
        "python": _median([sys.executable, "-c", "pass"]),
        "import": _median([sys.executable, "-c", "import rlclinic"]),
        "show": _median([sys.executable, "-m", "rlclinic", "show", str(RUN)]),
        "answer": _median([sys.executable, "-m", "rlclinic", "diagnose", str(RUN), "--brief"]),
    }
    for name, seconds in medians.items():
        goal = f" (goal {GOALS[name]} s)" if name in GOALS else ""
        print(f"startup   {name:8s} {seconds:.3f} s{goal}")
    return medians


def _median(command: list[str]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return sorted(times)[REPEATS // 2]


if __name__ == "__main__":
    main()
