"""How much faster this checkout is than a commit: `python -m bench.speed BASE [ROUNDS]`.

Both read and diagnose the same small runs (the fixtures that both can read) and diagnose one long run, run by run in
turns. CPU seconds, of each run the best of the rounds: other work on the machine then counts in neither. What an old
commit needs beside this one's libraries is found on PYTHONPATH.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "tests" / "fixtures" / "runs"
SMALL_RUNS = 200
ROUNDS = 5
LONG = "the long run"


def main(base: str, rounds: int = ROUNDS) -> dict[str, float]:
    """Print the seconds of both checkouts; return how many times faster this one is."""
    from rlclinic.readers.discover import find

    small = [ref.name for ref in find(RUNS)][:SMALL_RUNS]
    with _checkout(base) as other, _worker(other) as before, _worker(ROOT) as after:
        # What the first diagnoses import and load is not counted, so the first round is not.
        turns = [
            [(_seconds(before, name), _seconds(after, name)) for name in (*small, LONG)] for _ in range(rounds + 1)
        ]
    best = [tuple(min(turn[at][which] for turn in turns[1:]) for which in (0, 1)) for at in range(len(small) + 1)]
    result = {}
    for name, part in (("small runs", best[:-1]), ("long run", best[-1:])):
        read = [pair for pair in part if not any(map(math.isnan, pair))]
        then, now = (sum(seconds) for seconds in zip(*read, strict=True))
        result[name] = then / now
        print(f"{name}, {len(read)}: {then:.2f} s at {base}, {now:.2f} s here: {result[name]:.2f} times as fast")
    return result


@contextmanager
def _checkout(base: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        checkout = Path(place) / "base"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", checkout, base], cwd=ROOT, check=True)
        try:
            yield checkout
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", checkout], cwd=ROOT, check=True)


@contextmanager
def _worker(checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """A process with the code of a checkout that diagnoses what it is told."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{checkout / 'src'}:{ROOT}:{os.environ.get('PYTHONPATH', '')}",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-P", "-m", "bench.speed", "--work"]
    pipe = subprocess.PIPE
    with tempfile.TemporaryDirectory() as place:
        environment |= {"RLCLINIC_LEDGER": f"{place}/ledger.sqlite", "RLCLINIC_INDEX": f"{place}/index.sqlite"}
        with subprocess.Popen(command, cwd=place, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
            yield process
            process.communicate()


def _seconds(worker: subprocess.Popen[str], name: str) -> float:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{name}\n")
    worker.stdin.flush()
    return float(worker.stdout.readline())


def work() -> None:
    """Diagnose the runs that standard input names, with the code on PYTHONPATH; print the CPU seconds of each."""
    from bench.bench_diagnose import long_run
    from rlclinic.engine import diagnose
    from rlclinic.model.errors import RlclinicError
    from rlclinic.readers.open import read

    long = long_run()
    for line in sys.stdin:
        name, start = line.rstrip("\n"), time.process_time()
        try:
            diagnose(long if name == LONG else read(name))
            print(time.process_time() - start, flush=True)
        except RlclinicError:
            print(math.nan, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        main(sys.argv[1], *(int(rounds) for rounds in sys.argv[2:3]))
