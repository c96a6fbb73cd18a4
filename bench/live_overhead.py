"""What a monitor costs in training: `python -m bench.live_overhead [--pairs N] [ALGORITHM ...]`.

Stable-Baselines3 at its default settings, trained in turn with and without `ClinicCallback`, same seed, in one process
and thread. Two numbers, both of processor time: the share that is spent inside the callback, and the ratio of the two
trainings with an upper bound (95%, bootstrap of the mean over pairs). The last look, after training has ended, is told
apart. Every pair is recorded in bench/live_overhead.jsonl, and the next call goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("live_overhead.jsonl")
TRAININGS = {"PPO": ("CartPole-v1", 4_096), "SAC": ("Pendulum-v1", 300)}
HOOKS = ("_on_training_start", "_on_rollout_start", "_on_rollout_end", "_on_step")


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.live_overhead", description=__doc__)
    parser.add_argument("algorithms", nargs="*", choices=[[], *TRAININGS], metavar="ALGORITHM")
    parser.add_argument("--pairs", type=int, default=20)
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    for algorithm in asked.algorithms or list(TRAININGS):
        done = sum(line["algorithm"] == algorithm for line in recorded())
        if done < asked.pairs:
            _train(algorithm, None, 0)
        for seed in range(done, asked.pairs):
            line = {"algorithm": algorithm, **_pair(algorithm, seed)}
            with open(RECORD, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)
    for algorithm in TRAININGS:
        print(algorithm, summary(algorithm))


def recorded() -> list[dict[str, Any]]:
    """What was measured so far."""
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    return [json.loads(line) for line in lines]


def summary(algorithm: str) -> dict[str, float]:
    """Pairs, mean ratio with its upper bound, and the share inside the callback."""
    import numpy as np

    lines = [line for line in recorded() if line["algorithm"] == algorithm]
    ratios = np.array([line["with"] / line["without"] for line in lines])
    if not ratios.size:
        return {"pairs": 0}
    drawn = np.random.default_rng(0).choice(ratios, (4_000, ratios.size)).mean(axis=1)
    return {
        "pairs": int(ratios.size),
        "ratio": round(float(ratios.mean()), 4),
        "upper": round(float(np.quantile(drawn, 0.975)), 4),
        "share": round(float(np.mean([line["inside"] / line["with"] for line in lines])), 5),
        "last_look": round(float(np.median([line["last_look"] for line in lines])), 3),
    }


def _pair(algorithm: str, seed: int) -> dict[str, float]:
    from rlclinic.live.callbacks.sb3 import ClinicCallback

    inside = {"hooks": 0.0, "_on_training_end": 0.0}

    def timed(name: str) -> Any:
        method, key = getattr(ClinicCallback, name), name if name in inside else "hooks"

        def measured(self: Any) -> Any:
            began = time.process_time()
            try:
                return method(self)
            finally:
                inside[key] += time.process_time() - began

        return measured

    timed_callback = type("Timed", (ClinicCallback,), {name: timed(name) for name in (*HOOKS, "_on_training_end")})
    times = {}
    for how in ("with", "without") if seed % 2 else ("without", "with"):
        callback = timed_callback(sinks=[]) if how == "with" else None
        times[how] = _train(algorithm, callback, seed)
    last = inside["_on_training_end"]
    found = {**times, "with": times["with"] - last, "inside": inside["hooks"], "last_look": last}
    return {key: round(value, 4) for key, value in found.items()}


def _train(algorithm: str, callback: Any, seed: int) -> float:
    import stable_baselines3
    import torch

    torch.set_num_threads(1)
    environment, steps = TRAININGS[algorithm]
    model = getattr(stable_baselines3, algorithm)("MlpPolicy", environment, seed=seed, device="cpu")
    began = time.process_time()
    model.learn(steps, callback=callback)
    return time.process_time() - began


if __name__ == "__main__":
    main()
