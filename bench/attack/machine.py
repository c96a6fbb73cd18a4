"""A machine that does not help: full disks, folders that cannot be written, clocks that jump, many processes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from bench.attack.command import TINY, Options, a_run, check, sound, trained

# Loaded by every Python that has its folder on the path: time goes back and forth by days.
CLOCK = """
import time, random
real = time.time
rng = random.Random(1)
time.time = lambda: real() + rng.choice((0, 0, 86400, -86400, 4e9, -2e9))
"""
TRAIN = ("train", "CartPole-v1:a2c", "--steps", 600, "--quiet", *TINY)


def full_disk(place: Path, _: Options) -> str:
    """Every verb that writes says that it cannot; what was there stays whole."""
    disk = place / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    check(mounted.returncode == 0, "not done: a small file system cannot be mounted, run it as root")
    try:
        config = _fixable(disk)
        before = config.read_text()
        with (disk / "fill").open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1024))
        sound(disk, "fix", "run", "--config", config, "--write", "--unsafe", "--prescription", 1)
        check(config.read_text() == before, "a config was changed on a full disk")
        for words in (
            ("runs", disk),
            ("show", disk / "run"),
            ("diagnose", disk / "run", "-o", disk / "report.txt"),
            TRAIN,
        ):
            sound(disk, *words)
        left = [path.name for path in disk.rglob("*") if path.name.endswith((".part", ".bak", ".tmp"))]
        check(not left, f"left over: {left}")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)
    return "fix, runs, show, diagnose, train"


def read_only_folder(place: Path, _: Options) -> str:
    config = _fixable(place)
    before, modes = config.read_text(), []
    for folder in (place / "run", place):
        modes.append((folder, folder.stat().st_mode))
        folder.chmod(0o555)
    try:
        words = (
            ("runs", place),
            ("show", place / "run"),
            ("diagnose", place / "run"),
            TRAIN,
            ("trial", place / "run", "--seeds", 1),
        )
        for item in (*words, ("fix", "run", "--config", config, "--write", "--unsafe", "--prescription", 1)):
            sound(place, *item, unprivileged=True)
        check(config.read_text() == before, "a config in a folder that cannot be written was changed")
        check(not (place / "runs").exists(), "a folder that cannot be written was written")
    finally:
        for folder, mode in modes:
            folder.chmod(mode)
    return "runs, show, diagnose, train, trial, fix"


def clock_jumps(place: Path, _: Options) -> str:
    (place / "clock").mkdir()
    (place / "clock" / "sitecustomize.py").write_text(CLOCK)
    env = {"PYTHONPATH": os.pathsep.join([str(place / "clock"), os.environ.get("PYTHONPATH", "")])}
    sound(place, *TRAIN, env=env, codes=(0,))
    run = next(path for path in (place / "runs").iterdir() if path.is_dir() and not path.is_symlink())
    for stamp in (0, 4e9, 2**33):
        for path in run.rglob("*"):
            os.utime(path, (stamp, stamp))
        for words in (
            ("show", run),
            ("diagnose", run, "--json"),
            ("runs", "runs"),
            ("status", "runs", "--all"),
            ("compare", run),
        ):
            sound(place, *words, env=env)
    for value in (-1e300, 1e300, 0, -1, 1e18):
        state = json.loads((run / "status.json").read_text())
        (run / "status.json").write_text(json.dumps({**state, "started": value, "heartbeat": value, "ended": value}))
        for words in (("show", run), ("status", "runs", "--all"), ("runs", "runs")):
            sound(place, *words)
    return "3 dates of files, 5 of the run"


def eight_processes_on_one_index(place: Path, _: Options) -> str:
    for number in range(30):
        a_run(place, "gymnasium_solver/runs/local-20260115-103000", f"runs/run{number:02}")
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: sound(place, "runs", "runs", "--json", codes=(0,)).out, range(8)))
    listed = {json.dumps(json.loads(text)["runs"], sort_keys=True) for text in results}
    check(len(listed) == 1, f"{len(listed)} different lists from one index")
    check(len(json.loads(results[0])["runs"]) == 30, "not every run is listed")
    return "8 equal lists of 30 runs"


def interrupted_process_is_not_running(place: Path, _: Options) -> str:
    """`show`, `status` and `runs` agree that a run whose process is gone does not go on."""
    run = trained(place)
    state = json.loads((run / "status.json").read_text())
    (run / "status.json").write_text(json.dumps({**state, "state": "running", "pid": 2**22 - 3, "ended": None}))
    for words in (("show", run, "--json"), ("runs", "runs", "--json", "--no-index")):
        check('"running"' not in sound(place, *words).out, f"{words[0]} says that a dead process runs")
    return "show and runs agree with status"


def _fixable(place: Path) -> Path:
    """A run whose diagnosis prescribes a change, and the config that it was made from."""
    a_run(place, "sb3/ppo_cartpole_high_lr", "run")
    config = place / "settings.yaml"
    config.write_text("# mine\nlearning_rate: 0.05  # high\nn_steps: 128\n")
    return config


ATTACKS: tuple[Callable[[Path, Options], str], ...] = (
    full_disk, read_only_folder, clock_jumps, eight_processes_on_one_index, interrupted_process_is_not_running,
)  # fmt: skip
