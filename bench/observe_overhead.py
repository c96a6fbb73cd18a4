"""What `Observe` costs in training: `python -m bench.observe_overhead [--rollouts N]`.

One training of PPO and one of DQN with Stable-Baselines3, in which the environment is watched in every other stretch of
steps; CPU time of stretches with and without is compared in pairs, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from typing import Any

from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback

from rlclinic.environment import Observe

STRETCH = 512
"""Env steps that are watched, or not, with the updates between them."""


class Switched(Observe):
    """Watches only while it is told to."""

    watching = True

    def step(self, action: Any) -> Any:
        return super().step(action) if self.watching else self.env.step(action)


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
    parser.add_argument("--rollouts", type=int, default=40)
    rollouts = parser.parse_args().rollouts
    for kind, options in ((PPO, {"n_steps": STRETCH}), (DQN, {"learning_starts": 100, "train_freq": 4})):
        print(kind.__name__, measured(kind, options, rollouts))


def measured(kind: Any, options: dict[str, Any], rollouts: int) -> str:
    """The median of the ratios of neighbouring stretches, and their middle half."""
    import gymnasium

    with tempfile.TemporaryDirectory() as folder:
        environment = Switched(gymnasium.make("CartPole-v1"), folder)
        watch = Stopwatch(environment)
        kind("MlpPolicy", environment, seed=0, device="cpu", **options).learn(rollouts * STRETCH, callback=watch)
    ratios = [on / off - 1.0 for on, off in zip(watch.seconds[True], watch.seconds[False], strict=False)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    total = sum(watch.seconds[True]) / sum(watch.seconds[False][: len(watch.seconds[True])]) - 1.0
    pairs = f"{len(ratios)} pairs of {STRETCH} steps"
    return f"{100 * middle:.1f}% (middle half {100 * low:.1f} to {100 * high:.1f}%, sums {100 * total:.1f}%), {pairs}"


if __name__ == "__main__":
    main()
