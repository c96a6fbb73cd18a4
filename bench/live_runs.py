"""Ten runs that train now and are watched by their files alone: `python -m bench.live_runs`.

Five with a fault in their settings, five without. Recorded in bench/live_runs.jsonl; the next call goes on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rlclinic.live.watch import Watch

RECORD = Path(__file__).with_name("live_runs.jsonl")
BUDGET = 12_000
FAULTS = {
    "learning-rate-too-high": "learning_rate=0.3",
    "entropy-bonus-too-high": "ent_coef=20",
    "learning-rate-too-low": "learning_rate=1e-9",
    "reward-scale-too-large": "reward_scale=100000",
    "clip-range-too-tight": "clip_range=1e-6",
}
# Trained in turns, so that whoever stops early has some of both.
RUNS = [pair for fault, seed in zip(FAULTS, range(5), strict=True) for pair in ((fault, seed), ("", seed))]


def main() -> None:
    """Entry of the command."""
    done = {(line["fault"], line["seed"]) for line in recorded()}
    for fault, seed in RUNS:
        if (fault, seed) not in done:
            line = {"fault": fault, "seed": seed, **_watched(fault, seed)}
            with open(RECORD, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)


def recorded() -> list[dict[str, Any]]:
    """What was measured so far."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return [json.loads(line) for line in lines]


def _watched(fault: str, seed: int) -> dict[str, Any]:
    """Train one run in a process of its own and watch it; the first alert, and what was told by the end."""
    with tempfile.TemporaryDirectory() as root:
        changes = [flag for change in (FAULTS[fault],) for flag in ("-o", change)] if fault else []
        command = [sys.executable, "-m", "rlclinic", "train", "CartPole-v1:ppo", "--framework", "sb3", "--quiet"]
        command += ["--steps", str(BUDGET), "--seed", str(seed), "--root", root, *changes]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        told: list[dict[str, Any]] = []
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as training:
            watch = Watch([root])
            while True:
                ended = training.poll() is not None
                told += [event.to_object() for event in watch.poll() if event.alert is not None]
                if ended:
                    break
                time.sleep(0.5)
    alerts = [
        {"key": item["alert"]["key"], "share": round(item["step"] / BUDGET, 3), "cause": item["alert"]["cause"]}
        for item in told
    ]
    return {"first": alerts[0]["share"] if alerts else None, "alerts": alerts[:6]}


if __name__ == "__main__":
    main()
