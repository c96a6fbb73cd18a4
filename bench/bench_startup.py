"""From shell to output: `import rlclinic`, `rlclinic show` and the answer of `rlclinic diagnose` on a small run.

Bytecode is kept as an installed package has it. Beside the time on the clock stands the CPU time, which says more where
other programs run; of both the fastest of several counts, and the middle one shows how much they differ.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUN = Path(__file__).parents[1] / "tests" / "fixtures" / "runs" / "sb3" / "ppo_cartpole"
REPEATS = 9
GOALS = {"import": 0.25, "show": 0.7, "answer": 0.6}
COMMANDS = {
    "python": ["-c", "pass"],
    "numpy": ["-c", "import numpy"],
    "import": ["-c", "import rlclinic"],
    "show": ["-m", "rlclinic", "show", str(RUN)],
    "answer": ["-m", "rlclinic", "diagnose", str(RUN), "--brief"],
}


def main() -> dict[str, float]:
    """Print the seconds beside their goals, and beside an empty Python and one that imports numpy."""
    fastest = {}
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = bytecode
        for name, words in COMMANDS.items():
            # The first one compiles.
            times = [_seconds([sys.executable, *words], environment) for _ in range(REPEATS + 1)][1:]
            (wall, middle), (cpu, _) = ((min(part), sorted(part)[REPEATS // 2]) for part in zip(*times, strict=True))
            goal = f" (goal {GOALS[name]} s)" if name in GOALS else ""
            print(f"startup   {name:8s} {wall:.3f} s{goal}, CPU {cpu:.3f} s, half of them within {middle:.3f} s")
            fastest[name] = wall
    return fastest


def _seconds(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return end - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
