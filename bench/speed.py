"""How much faster this checkout is than a commit: `python -m bench.speed BASE`.

Both read and diagnose the same 200 small runs (the fixtures, again and again) and diagnose one long run, in turns, so
that a machine that gets busy slows both. CPU seconds, the best of the rounds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "tests" / "fixtures" / "runs"
SMALL_RUNS = 200
ROUNDS = 5


def main(base: str, rounds: int = ROUNDS) -> dict[str, float]:
    """Print the seconds of both checkouts; return how many times faster this one is."""
    with tempfile.TemporaryDirectory() as place:
        checkout = Path(place) / "base"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", checkout, base], cwd=ROOT, check=True)
        try:
            found = [(_seconds(checkout), _seconds(ROOT)) for _ in range(rounds)]
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", checkout], cwd=ROOT, check=True)
    result = {}
    for name in found[0][0]:
        before, after = (min(turn[which][name] for turn in found) for which in (0, 1))
        result[name] = before / after
        print(f"{name:12s} {before:6.2f} s at {base}, {after:6.2f} s here: {result[name]:.2f} times as fast")
    return result


def _seconds(checkout: Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": f"{checkout / 'src'}:{ROOT}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-P", "-m", "bench.speed", "--measure"]
    with tempfile.TemporaryDirectory() as place:
        environment |= {"RLCLINIC_LEDGER": f"{place}/ledger.sqlite", "RLCLINIC_INDEX": f"{place}/index.sqlite"}
        told = subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True, text=True)
    seconds: dict[str, float] = json.loads(told.stdout)
    return seconds


def measure() -> dict[str, float]:
    """The seconds of the code on PYTHONPATH; what the first diagnoses import is not counted."""
    from bench.bench_diagnose import long_run
    from rlclinic.engine import diagnose
    from rlclinic.model.errors import RlclinicError
    from rlclinic.readers.discover import find
    from rlclinic.readers.open import read

    names = [ref.name for ref in find(RUNS)]
    result = {}
    for work, count in (("warm-up", len(names)), ("small runs", SMALL_RUNS)):
        start = time.process_time()
        for name in islice(cycle(names), count):
            try:
                diagnose(read(name))
            except RlclinicError:
                continue
        result[work] = time.process_time() - start
    del result["warm-up"]
    run = long_run()
    start = time.process_time()
    diagnose(run)
    return {**result, "long run": time.process_time() - start}


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        print(json.dumps(measure()))
    else:
        main(sys.argv[1], *(int(rounds) for rounds in sys.argv[2:3]))
