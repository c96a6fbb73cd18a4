"""The second collection of real runs: other trainers, other formats. Each is read, and the right return decides.

The collection is not part of the repository. Set RLCLINIC_CORPUS2 to its folder; without it these tests are skipped.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlclinic.model.run import Run
from rlclinic.readers.open import read

CORPUS = Path(os.environ.get("RLCLINIC_CORPUS2", Path(__file__).parents[2] / "shared" / "corpus2"))
LABELS: list[dict[str, Any]] = (
    yaml.safe_load((CORPUS / "labels.yaml").read_text(encoding="utf-8")) if (CORPUS / "labels.yaml").is_file() else []
)

pytestmark = pytest.mark.skipif(
    not LABELS, reason="90 labelled runs not checked: no second corpus here, set RLCLINIC_CORPUS2 to its folder"
)

# What the files of a run do not tell, so that no reader can know it: words of labels, and runs by their path.
UNKNOWABLE_ENVIRONMENT = re.compile(
    r"\(own\)|\(Unity\)|^own|^none|Crafter|CoinFlip|CarRacing|walker_walk|MiniGrid|gym-pybullet|maze|^Breakout$"
)
UNKNOWABLE_ALGORITHM = ("homework3-4/logs", "gym-pybullet-drones/logs", "DeepClima-R1/logging.jsonl")
UNNAMED_DATA = "checkpoint-250/trainer_state.json"
WITHOUT_RETURN = {"insufficient-data", "not-rl", "crashed", "misconfigured"}

# The return that decides, where a wrong one lies beside it.
DECIDING = {
    "archive_doorkey": ("eval/mean_reward", 40),
    "archive_multiroom_n4_s5": ("eval/mean_reward", 200),
    "coinflip/PPO_0": ("eval/mean_reward", 200),
    "Active-Querying-on-PEBBLE": ("eval/true_episode_reward", 33),
    "logs_v2p3/metrics.jsonl": ("test/env/all/reward/total", 12),
    "HopperHop_phasez_baseline/seed_2.csv": ("mppi/reward", 40),
    "results_old/sacred/1": ("test_return_mean", 201),
    "runs/HumanoidAMP": ("rewards/frame", 43),
    "rgb/dqn_Breakout-v4_log.json": ("episode_reward", 2799),
    "0.005 learning rate.md": ("rollout/ep_rew_mean", 45),
    "csd_pilot/pilot2_adq_collapse/log_adq_seed42.txt": ("reward", 50),
}


@pytest.mark.parametrize("label", LABELS, ids=lambda label: label["path"][-60:])
def test_a_run_of_the_second_collection_is_read_as_labelled(label: dict[str, Any]) -> None:
    run = read(CORPUS / label["path"])
    assert misses(run, label) == []


def misses(run: Run, label: dict[str, Any]) -> list[str]:
    """What the reading gets wrong, in words."""
    found = []
    trainer = label.get("trainer", label["framework"])
    if run.framework != trainer:
        found.append(f"framework is {run.framework}, not {trainer}")
    algorithm = re.sub(r"\s*\(.*\)", "", label["algorithm"]).upper()
    if run.algorithm != algorithm and not label["path"].endswith(UNKNOWABLE_ALGORITHM):
        found.append(f"algorithm is {run.algorithm!r}, not {algorithm}")
    environment = re.sub(r"\s*\(.*\)", "", label["environment"])
    if label["path"].endswith(UNNAMED_DATA):
        environment = ""
    if not UNKNOWABLE_ENVIRONMENT.search(label["environment"]) and not _same(run.environment, environment):
        found.append(f"environment is {run.environment!r}, not {environment}")
    if not WITHOUT_RETURN & set(label["verdict"]) and (run.returns is None or run.returns.last is None):
        found.append("no return series")
    return found + _wrong_return(run, label["path"])


def _wrong_return(run: Run, path: str) -> list[str]:
    expected = next((value for end, value in DECIDING.items() if path.endswith(end)), None)
    if expected is None or run.returns is None:
        return [] if expected is None else ["no return decides"]
    got = (run.returns.logged_as, len(run.returns))
    return [] if got == expected else [f"{got} decides, not {expected}"]


def _same(found: str, expected: str) -> bool:
    squeezed = re.sub(r"[^a-z0-9]", "", found.lower())
    return all(word in squeezed for word in re.split(r"[^a-z0-9]+", expected.lower()))
