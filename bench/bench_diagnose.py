"""How long a diagnosis takes: one long run in process, and many small ones."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from rlclinic.engine import diagnose
from rlclinic.model.config import Config, Setting
from rlclinic.model.run import Run
from rlclinic.model.series import Series
from rlclinic.model.vocabulary import METRICS
from rlclinic.readers.open import read

RUN = Path(__file__).parents[1] / "tests" / "fixtures" / "runs" / "sb3" / "ppo_cartpole"
POINTS, SERIES = 100_000, 30
SMALL_RUNS = 200
GOALS = {"long": 1.5, "small": 20.0}


def main() -> dict[str, float]:
    """Print the seconds beside their goals; the first diagnosis, which imports everything, is not counted."""
    diagnose(read(RUN))
    run = long_run()
    start = time.perf_counter()
    diagnose(run)
    long_seconds = time.perf_counter() - start
    start = time.perf_counter()
    for _ in range(SMALL_RUNS):
        diagnose(read(RUN))
    result = {"long": long_seconds, "small": time.perf_counter() - start}
    print(
        f"diagnose  long     {result['long']:.2f} s for {SERIES} metrics x {POINTS:,} points (goal {GOALS['long']} s)"
    )
    print(f"diagnose  small    {result['small']:.1f} s for {SMALL_RUNS} runs, one process (goal {GOALS['small']} s)")
    return result


def long_run() -> Run:
    """A run of the size that the goal names; its curves wander, so that no shortcut for constants applies."""
    generator = np.random.default_rng(0)
    steps = np.arange(POINTS, dtype=np.float64) * 64
    names = [metric.name for metric in METRICS if not metric.name.endswith("/*")][:SERIES]
    series = {
        name: Series(name, name, steps, np.cumsum(generator.normal(size=POINTS)) * 0.01 + 1.0, known=True)
        for name in names
    }
    config = Config({"learning_rate": Setting("learning_rate", 3e-4, "learning_rate")})
    return Run(
        "long",
        "long",
        "sb3",
        algorithm="PPO",
        environment="CartPole-v1",
        steps=float(steps[-1]),
        series=series,
        config=config,
    )


if __name__ == "__main__":
    main()
