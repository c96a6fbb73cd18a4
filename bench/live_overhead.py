"""What a monitor costs in training: `python -m bench.live_overhead [--pairs N] [ALGORITHM ...]`.

Stable-Baselines3 at its default settings, with and without `ClinicCallback`, same seed, in one process. The two
trainings of a pair take turns of some hundredths of a second: a machine that is busy meanwhile slows both alike. Two
numbers, both of processor time: the share that is spent inside the callback, and the ratio of the two trainings with a
95% interval (bootstrap of the mean over pairs). The last look, after training has ended, is told apart. Every pair is
recorded in bench/live_overhead.jsonl, and the next call goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("live_overhead.jsonl")
TRAININGS = {"PPO": ("CartPole-v1", 4_096), "SAC": ("Pendulum-v1", 300)}
# Env steps, and updates, of one turn.
STEPS, UPDATES = 100, 8
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
            # What is loaded at first use is no part of a training.
            _pair(algorithm, 0)
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
        "lower": round(float(np.quantile(drawn, 0.025)), 4),
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
    turns = _Turns()
    arms = {"with": timed_callback(sinks=[]), "without": None}
    order = list(arms) if seed % 2 else list(reversed(arms))
    threads = [threading.Thread(target=_train, args=(algorithm, arms[arm], seed, turns, arm)) for arm in order]
    turns.give(order[0])
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times, last = turns.spent, inside["_on_training_end"]
    found = {**times, "with": times["with"] - last, "inside": inside["hooks"], "last_look": last}
    return {key: round(value, 4) for key, value in found.items()}


class _Turns:
    """Lets one of two threads work at a time, and adds up what each has used of the processor."""

    def __init__(self) -> None:
        self.spent = {"with": 0.0, "without": 0.0}
        self._ended: set[str] = set()
        self._turn, self._began = "", 0.0
        self._changed = threading.Condition()

    def give(self, arm: str) -> None:
        with self._changed:
            self._turn, self._began = arm, time.process_time()
            self._changed.notify_all()

    def take(self, arm: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._turn == arm)

    def pass_on(self, arm: str, *, ended: bool = False) -> None:
        self.spent[arm] += time.process_time() - self._began
        self._ended |= {arm} if ended else set()
        other = "with" if arm == "without" else "without"
        self.give(arm if other in self._ended else other)
        if not ended:
            self.take(arm)


def _train(algorithm: str, callback: Any, seed: int, turns: _Turns, arm: str) -> None:
    import stable_baselines3
    import torch
    from stable_baselines3.common.callbacks import BaseCallback

    class Passes(BaseCallback):
        def _on_step(self) -> bool:
            if self.n_calls % STEPS == 0:
                turns.pass_on(arm)
            return True

    updates = iter(range(1, 1 << 30))

    def updated(*_: object) -> None:
        if next(updates) % UPDATES == 0:
            turns.pass_on(arm)

    turns.take(arm)
    try:
        torch.set_num_threads(1)
        environment, steps = TRAININGS[algorithm]
        model = getattr(stable_baselines3, algorithm)("MlpPolicy", environment, seed=seed, device="cpu")
        optimizer = (model.critic if algorithm == "SAC" else model.policy).optimizer
        optimizer.register_step_pre_hook(updated)
        turns.spent[arm] = 0.0
        turns.pass_on(arm)
        turns.spent[arm] = 0.0
        model.learn(steps, callback=[Passes(), *([callback] if callback is not None else [])])
    finally:
        turns.pass_on(arm, ended=True)


if __name__ == "__main__":
    main()
