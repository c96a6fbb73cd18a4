"""The arithmetic of the overhead benchmark."""

import cProfile
import json
import pstats
from pathlib import Path

import pytest

from bench import overhead


def test_pairs_are_joined_by_number_and_a_lone_run_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"how": "lab", "algorithm": "PPO", "number": 0, "seconds": 2.2},
        {"how": "plain", "algorithm": "PPO", "number": 0, "seconds": 2.0},
        {"how": "plain", "algorithm": "PPO", "number": 1, "seconds": 2.0},
        {"how": "lab", "algorithm": "PPO", "number": 1, "seconds": 2.0},
        {"how": "lab", "algorithm": "PPO", "number": 2, "seconds": 9.0},
        {"how": "profile", "algorithm": "PPO", "number": 0, "share": 0.011},
    ]
    record = tmp_path / "overhead.jsonl"
    record.write_text("\n".join(json.dumps(line) for line in lines) + '\n{"how": "la', encoding="utf-8")
    monkeypatch.setattr(overhead, "RECORD", record)
    found = overhead.summary("PPO")
    assert (found["pairs"], found["share"]) == (2, 0.011)
    assert (found["low"], found["ratio"], found["high"]) == pytest.approx((1.0, 1.05, 1.1))
    assert overhead.summary("SAC")["pairs"] == 0


def test_of_several_measurements_the_last_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        {"how": "lab", "algorithm": "A2C", "number": 0, "seconds": 4.0},
        {"how": "plain", "algorithm": "A2C", "number": 0, "seconds": 2.0},
        {"how": "profile", "algorithm": "A2C", "number": 0, "share": 0.03},
        {"how": "lab", "algorithm": "A2C", "number": 0, "seconds": 2.2},
        {"how": "profile", "algorithm": "A2C", "number": 0, "share": 0.01},
    ]
    record = tmp_path / "overhead.jsonl"
    record.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    monkeypatch.setattr(overhead, "RECORD", record)
    found = overhead.summary("A2C")
    assert (found["pairs"], found["ratio"], found["share"]) == (1, pytest.approx(1.1), 0.01)


def test_the_share_counts_self_time_in_rlclinics_files_alone() -> None:
    profile = cProfile.Profile()
    profile.runcall(sorted, range(10))
    stats = pstats.Stats(profile)
    stats.stats = {  # type: ignore[attr-defined]
        ("/site/rlclinic/lab/session.py", 1, "step"): (1, 1, 0.2, 5.0, {}),
        ("/site/torch/nn.py", 1, "forward"): (1, 1, 0.8, 0.8, {}),
    }
    assert overhead.own_share(stats) == pytest.approx(0.2)
