"""What `Observe` costs in training: `python -m bench.observe_overhead [--rollouts N]`.

One training of PPO and one of DQN with Stable-Baselines3, in which the environment is watched in every other stretch of
steps; CPU time of stretches with and without is compared in pairs, so that what else the machine does falls on both.
What it finds is kept for docs/benchmarks/environments.md.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback

from rlclinic.environment import Observe

RECORD = Path(__file__).with_suffix(".json")
DRAWS = 4000
STRETCH = 512
"""Env steps that are watched, or not, with the updates between them."""


class Switched(Observe):
    """Watches only while it is told to."""

    watching = True
    inside = 0.0
    """CPU seconds of its own, without those of the environment; two looks at the clock a step are among them."""

    def __init__(self, env: Any, folder: str) -> None:
        super().__init__(env, folder)
        self._step = self._timed

    def step(self, action: Any) -> Any:
        if not self.watching:
            return self.env.step(action)
        began = time.process_time()
        found = super().step(action)
        self.inside += time.process_time() - began
        return found

    def _timed(self, action: Any) -> Any:
        began = time.process_time()
        found = self.env.step(action)
        self.inside -= time.process_time() - began
        return found


class Stopwatch(BaseCallback):
    """CPU seconds of each stretch; turns the watching on and off."""

    def __init__(self, environment: Switched) -> None:
        super().__init__()
        self._environment = environment
        self._began = 0.0
        self.seconds: dict[bool, list[float]] = {True: [], False: []}

    def _on_step(self) -> bool:
        if self.n_calls % STRETCH == 0:
            now = time.process_time()
            if self._began:
                self.seconds[self._environment.watching].append(now - self._began)
            self._environment.watching = not self._environment.watching
            self._began = time.process_time()
        return True


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.observe_overhead", description=__doc__)
    parser.add_argument("--rollouts", type=int, default=200)
    rollouts = parser.parse_args().rollouts
    found = {}
    for kind, options in ((PPO, {"n_steps": STRETCH}), (DQN, {"learning_starts": 100, "train_freq": 4})):
        found[kind.__name__] = measured(kind, options, rollouts)
        print(kind.__name__, found[kind.__name__], flush=True)
    RECORD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def measured(kind: Any, options: dict[str, Any], rollouts: int) -> dict[str, float]:
    """The median of the ratios of neighbouring stretches less 1, its 95% interval by a bootstrap, and their number."""
    import gymnasium

    with tempfile.TemporaryDirectory() as folder:
        environment = Switched(gymnasium.make("CartPole-v1"), folder)
        watch = Stopwatch(environment)
        kind("MlpPolicy", environment, seed=0, device="cpu", **options).learn(rollouts * STRETCH, callback=watch)
    ratios = [on / off - 1.0 for on, off in zip(watch.seconds[True], watch.seconds[False], strict=False)]
    drawn = random.Random(0)
    medians = sorted(statistics.median(drawn.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    low, high = medians[DRAWS // 40], medians[-DRAWS // 40]
    inside = environment.inside / sum(watch.seconds[True])
    found = {"median": statistics.median(ratios), "low": low, "high": high, "inside": inside, "pairs": len(ratios)}
    return {key: round(value, 4) for key, value in found.items()}


if __name__ == "__main__":
    main()
