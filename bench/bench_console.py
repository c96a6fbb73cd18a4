"""A console log of 100 MB, nearly all of it printed samples: CPU seconds and memory of a child that reads it."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 60
SAMPLES = 1_100  # printed at each step
WORDS = ("the answer", "is", "we compute", "42", "<think>", "</think>", "x = 1.5", "search", ":", "-", "step", "reward")
GOALS = {"cpu_s": 5.0}
_READ = """
import resource, sys, time
from rlclinic.store.reading import read
run = read(sys.argv[1])
usage = resource.getrusage(resource.RUSAGE_SELF)
print(len(run.series["return/train"]), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3)
"""


def main() -> dict[str, float]:
    """Print the time beside its goal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        _write(path)
        size = path.stat().st_size / 1e6
        done = subprocess.run([sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True)
    points, seconds, memory = (float(word) for word in done.stdout.split())
    if points != STEPS:
        raise ValueError(f"{points:.0f} of {STEPS} steps were read")
    print(f"console   {size:.0f} MB: {seconds:.1f} s of CPU (goal {GOALS['cpu_s']}), at most {memory:.0f} MB of memory")
    return {"cpu_s": seconds, "memory_mb": memory}


def _write(path: Path) -> None:
    draw = random.Random(0)
    texts = [f"[prompt] {' '.join(draw.choices(WORDS, k=300))}\n[score] {draw.random()}\n" for _ in range(SAMPLES)]
    samples = "".join(f"(main_task pid=1) {line}\n" for line in "".join(texts).splitlines())
    with path.open("w", encoding="utf-8") as file:
        for step in range(1, STEPS + 1):
            score = 0.2 + 0.3 * step / STEPS
            file.write(f"(main_task pid=1) step:{step} - critic/score/mean:{score:.3f} - actor/pg_loss:0.010")
            file.write(" - actor/ppo_kl:0.000 - response_length/mean:300.000\n" + samples)


if __name__ == "__main__":
    main()
