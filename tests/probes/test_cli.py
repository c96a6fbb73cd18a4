"""`rlclinic probe` and `rlclinic explain P8` by exit code and output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rlclinic.model.errors import UsageError
from rlclinic.probes.load import check_name

ROOT = Path(__file__).parents[2]
SOURCE = """
from tests.probes.tabular import Factory
good = Factory()
reversed_sign = Factory("sign")
helper = 3
def broken(env_fn, **settings):
    raise KeyError("reward")
"""


def rlclinic(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "mine.py").write_text(SOURCE, encoding="utf-8")
    command = [sys.executable, "-m", "rlclinic", "probe", *arguments]
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)


def test_a_module_in_the_working_directory_is_probed(tmp_path: Path) -> None:
    done = rlclinic(tmp_path, "mine:good", "--only", "P1", "--only", "S0b", "--preflight", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["schema"], found["verdict"]) == ("rlclinic.probe/1", "pass")
    assert {row["code"]: row["verdict"] for row in found["probes"]} == {"P1": "pass", "S0b": "pass"}


def test_a_preflight_says_what_it_did_not_look_at_and_seeds_can_be_given(tmp_path: Path) -> None:
    done = rlclinic(tmp_path, "mine:good", "--preflight", "--only", "P1", "--first-seed", "77", "--json")
    found = json.loads(done.stdout)
    left = {row["code"]: row["components"] for row in found["not_looked_at"]}
    assert "P1" not in left
    assert left["P8"] == ["time-limit bootstrapping", "flag order"]
    assert found["probes"][0]["seeds"] == {"right": 2, "run": 2, "wrong": []}
    wrong = rlclinic(tmp_path, "mine:reversed_sign", "--preflight", "--only", "P5.arms", "--first-seed", "77")
    assert "Not looked at: " in wrong.stdout
    assert "time-limit bootstrapping" in wrong.stdout


def test_a_failed_probe_exits_with_1_and_names_the_component(tmp_path: Path) -> None:
    done = rlclinic(tmp_path, "mine:reversed_sign", "--only", "P5", "--only", "P1")
    assert done.returncode == 1, done.stderr
    assert "1. advantage sign" in done.stdout
    assert "FAIL  P5   arms" in done.stdout


def test_a_factory_that_raises_exits_with_5(tmp_path: Path) -> None:
    done = rlclinic(tmp_path, "mine:broken", "--only", "P1")
    assert done.returncode == 5, done.stderr
    assert "KeyError: 'reward'" in done.stdout
    assert "Nothing could be judged." in done.stdout


def test_a_name_that_is_no_trainer_exits_with_2(tmp_path: Path) -> None:
    done = rlclinic(tmp_path, "nowhere:make")
    assert done.returncode == 2
    assert "no module 'nowhere'" in done.stderr
    with pytest.raises(UsageError, match="is no trainer"):
        check_name("PPO")
