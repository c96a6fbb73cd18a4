"""Planted faults of offline learning: `python -m bench.offline.faults FOLDER [NAME ...]` trains what is missing.

FOLDER is that of `python -m bench.offline.datasets`. Each entry is trained on as many seeds as --seeds says; of a run
config.json, metrics.csv and status.json are kept in FOLDER/planted/NAME-SEED.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rlclinic.lab.offline.asking import offline_recipe
from rlclinic.lab.train import train

KEPT = ("config.json", "metrics.csv", "status.json")
Arrays = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A run to plant: its data, its settings, and the causes that are right; none for a healthy one."""

    data: str
    algorithm: str
    causes: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    change: Callable[[Arrays], Arrays] | None = None
    steps: int = 3_000
    """Updates; 0 for cloning, which takes its defaults."""


def first_episodes(count: int) -> Callable[[Arrays], Arrays]:
    """Keep the first episodes alone."""
    return lambda arrays: {
        name: values if name == "env_id" else values[arrays["episodes"] < count] for name, values in arrays.items()
    }


def column(name: str, changed: Callable[[Any], Any]) -> Callable[[Arrays], Arrays]:
    """Change one column."""
    return lambda arrays: {**arrays, name: changed(arrays[name])}


def all_terminal(arrays: Arrays) -> Arrays:
    """The ends by a time limit are written down as terminal states."""
    over = arrays["terminated"] | arrays["truncated"]
    return {**arrays, "terminated": over, "truncated": np.zeros_like(over)}


# Values travel fast enough to be there after so few updates.
SMALL = (
    "net_arch=[64,64]", "batch_size=128", "eval_episodes=8", "learning_rate=1e-3", "gamma=0.97", "tau=0.03",
    "target_update_interval=30",
)  # fmt: skip
WEAK, STRONG, POOR = "conservatism-too-weak", "conservatism-too-strong", "dataset-coverage-poor"
ENTRIES = {
    # Healthy: the data hold what is needed and the settings are ordinary.
    "well-td3bc-expert": Entry("pendulum-expert", "td3-bc", settings=("conservative_weight=10",)),
    "well-cql-expert": Entry("cartpole-expert", "cql"),
    "well-cql-medium": Entry("cartpole-medium", "cql"),
    "well-bc-expert": Entry("pendulum-expert", "bc", settings=(), steps=0),
    "well-filtered-mixed": Entry("cartpole-mixed", "filtered-bc", settings=("best_share=0.4",), steps=0),
    # Faults.
    "weak-td3bc": Entry("pendulum-expert", "td3-bc", (WEAK,), ("conservative_weight=0.001",)),
    "weak-cql": Entry("cartpole-expert", "cql", (WEAK, "q-overestimation"), ("conservative_weight=0",)),
    "strong-td3bc": Entry("pendulum-mixed", "td3-bc", (STRONG,), ("conservative_weight=100",)),
    "strong-iql": Entry("pendulum-mixed", "iql", (STRONG,), ("conservative_weight=100",)),
    "strong-cql": Entry("cartpole-mixed", "cql", (STRONG,), ("conservative_weight=100",)),
    "one-episode": Entry("pendulum-expert", "td3-bc", (POOR,), change=first_episodes(1)),
    "two-episodes": Entry("cartpole-medium", "cql", (POOR, "too-many-updates"), change=first_episodes(2)),
    "nothing-good": Entry("mountaincarcontinuous-random", "td3-bc", (POOR,)),
    "rate-high": Entry(
        "pendulum-expert", "td3-bc", ("learning-rate-too-high",), ("conservative_weight=10", "learning_rate=0.3")
    ),
    "rate-low": Entry("cartpole-expert", "cql", ("learning-rate-too-low",), ("learning_rate=1e-7",)),
    "half-actions": Entry(
        "pendulum-expert",
        "td3-bc",
        ("action-space-unnormalised",),
        ("conservative_weight=10",),
        column("actions", lambda actions: 0.5 * actions),
    ),
    "negated-reward": Entry(
        "pendulum-mixed", "td3-bc", ("reward-sign-wrong",), change=column("rewards", lambda rewards: -rewards)
    ),
    "huge-reward": Entry("cartpole-expert", "cql", ("reward-scale-too-large",), ("reward_scale=10000",)),
    "ends-terminal": Entry("pendulum-mixed", "td3-bc", ("truncation-as-termination",), change=all_terminal),
}  # fmt: skip


def main(folder: Path, names: list[str], seeds: range) -> None:
    """Train what is missing."""
    for seed in seeds:
        for name, entry in ENTRIES.items():
            target = folder / "planted" / f"{name}-{seed}"
            if (names and name not in names) or target.exists():
                continue
            data = _data(folder, name, entry)
            every = (f"eval_freq={entry.steps // 15}", f"log_freq={entry.steps // 15}", f"total_steps={entry.steps}")
            settings = (*((*SMALL, *every) if entry.steps else ()), *entry.settings, f"seed={seed}")
            with tempfile.TemporaryDirectory() as root:
                made = train(offline_recipe(str(data), entry.algorithm, "", settings), root)
                target.mkdir(parents=True)
                for file in KEPT:
                    shutil.copy(made / file, target / file)
            print(target.name, "done", flush=True)


def _data(folder: Path, name: str, entry: Entry) -> Path:
    source = folder / "data" / f"{entry.data}.npz"
    if entry.change is None:
        return source
    with np.load(source, allow_pickle=False) as file:
        arrays = entry.change(dict(file))
    path = folder / "changed" / f"{name}.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, **arrays)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seeds", type=int, default=3, help="first seed that is not trained")
    told = parser.parse_args()
    main(told.folder, told.names, range(told.first, told.seeds))
