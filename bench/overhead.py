"""What rlclinic's instruments cost in training: `python -m bench.overhead [--pairs N] [--again] [ALGORITHM ...]`.

Two numbers. The share of a profile's self-time that lies in rlclinic's own code, and the ratio of CPU times of
alternating trainings with the lab and with plain Stable-Baselines3 (its Monitor included), each in a fresh process.
Evaluation and checkpoints are switched off: they are no instruments. It can be stopped at any time and goes on;
with `--again` it measures anew, and of several measurements the last counts.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("overhead.jsonl")
# Algorithm -> environment and env steps: some seconds each.
TRAININGS: dict[str, tuple[str, int]] = {
    "PPO": ("CartPole-v1", 10_000),
    "A2C": ("CartPole-v1", 30_000),
    "DQN": ("CartPole-v1", 6_000),
    "SAC": ("Pendulum-v1", 600),
}
PAIRS = 5
OURS = f"{os.sep}rlclinic{os.sep}"


def main() -> None:
    """Entry of the command."""
    parser = argparse.ArgumentParser(prog="python -m bench.overhead", description=__doc__)
    parser.add_argument("algorithms", nargs="*", choices=[[], *TRAININGS], metavar="ALGORITHM")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--again", action="store_true", help="measure what is recorded already, too")
    parser.add_argument("--one", nargs=2, metavar=("HOW", "ALGORITHM"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(_once(*asked.one)))
        return
    algorithms = asked.algorithms or list(TRAININGS)
    done = set() if asked.again else {(one["how"], one["algorithm"], one["number"]) for one in recorded()}
    # Seed by seed, so that slow and fast moments of a shared machine fall on both sides.
    for seed in range(asked.pairs):
        for algorithm in algorithms:
            for how in ("plain", "lab") if seed % 2 else ("lab", "plain"):
                if (how, algorithm, seed) not in done:
                    _measure(how, algorithm, seed)
    for algorithm in algorithms:
        if ("profile", algorithm, 0) not in done:
            _measure("profile", algorithm, 0)
    for algorithm in algorithms:
        print(algorithm, summary(algorithm))


def summary(algorithm: str) -> dict[str, Any]:
    """Pairs, the median ratio and its range, and the share of self-time."""
    lines = [line for line in recorded() if line["algorithm"] == algorithm]
    times = {(line["how"], line["number"]): line["seconds"] for line in lines if "seconds" in line}
    numbers = sorted(number for how, number in times if how == "lab" and ("plain", number) in times)
    ratios = [times["lab", number] / times["plain", number] for number in numbers]
    shares = [line["share"] for line in lines if line["how"] == "profile"]
    return {
        "pairs": len(ratios),
        "ratio": statistics.median(ratios) if ratios else None,
        "low": min(ratios, default=None),
        "high": max(ratios, default=None),
        "share": shares[-1] if shares else None,
    }


def recorded() -> list[dict[str, Any]]:
    """What was measured so far."""
    if not RECORD.exists():
        return []
    return [json.loads(text) for text in RECORD.read_text(encoding="utf-8").splitlines() if text.endswith("}")]


def own_share(stats: pstats.Stats) -> float:
    """The share of self-time in files of rlclinic."""
    rows = stats.stats  # type: ignore[attr-defined]
    total = sum(row[2] for row in rows.values())
    return float(sum(row[2] for (file, _, _), row in rows.items() if OURS in file) / total) if total else 0.0


def _measure(how: str, algorithm: str, number: int) -> None:
    command = [sys.executable, "-m", "bench.overhead", "--one", how, algorithm]
    ended = subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    line = {"how": how, "algorithm": algorithm, "number": number, **json.loads(ended.stdout.splitlines()[-1])}
    print(line, flush=True)
    with open(RECORD, "a", encoding="utf-8") as record:
        record.write(json.dumps(line) + "\n")


def _once(how: str, algorithm: str) -> dict[str, float]:
    environment, steps = TRAININGS[algorithm]
    if how == "plain":
        return {"seconds": round(_plain(environment, algorithm, steps), 3)}
    from rlclinic.lab.asking import recipe_from
    from rlclinic.lab.train import prepare, train_folder

    overrides = (f"total_steps={steps}", "eval_freq=0", f"checkpoint_freq={10 * steps}", "threshold=null")
    with tempfile.TemporaryDirectory() as root:
        folder = prepare(recipe_from(f"{environment}:{algorithm}", overrides), root)
        if how == "profile":
            profile = cProfile.Profile(time.process_time)
            profile.runcall(train_folder, folder, None, is_new=True)
            return {"share": round(own_share(pstats.Stats(profile)), 5)}
        began = time.process_time()
        train_folder(folder, None, is_new=True)
        return {"seconds": round(time.process_time() - began, 3)}


def _plain(environment: str, algorithm: str, steps: int) -> float:
    import torch
    from stable_baselines3.common.env_util import make_vec_env

    from rlclinic.lab.asking import recipe_from
    from rlclinic.lab.sb3.algorithms import algorithm_class
    from rlclinic.lab.sb3.arguments import constructor_arguments
    from rlclinic.lab.sb3.model import THREADS

    torch.set_num_threads(THREADS)
    recipe = recipe_from(f"{environment}:{algorithm}", (f"total_steps={steps}",))
    # Built once before, as the lab does to check a recipe: what the libraries load at their first use is no training.
    for is_timed in (False, True):
        began = time.process_time()
        vector = make_vec_env(environment, recipe.n_envs, seed=0)
        arguments = constructor_arguments(recipe, vector.action_space)
        model = algorithm_class(algorithm)("MlpPolicy", vector, seed=0, device="cpu", verbose=0, **arguments)
        if is_timed:
            model.learn(steps)
    return time.process_time() - began


if __name__ == "__main__":
    main()
