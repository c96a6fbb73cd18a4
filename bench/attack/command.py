"""Run rlclinic as a user does, and look at what came of it."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import IO

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "tests" / "fixtures" / "runs"
COMMAND = (sys.executable, "-P", "-m", "rlclinic")
TINY = ("-o", "n_envs=2", "-o", "net_arch=[8]", "-o", "eval_episodes=2")
# Documented exit codes; 130 is an interrupt.
CODES = (0, 1, 2, 5)
# Of waiting: what has not ended by then, on a busy machine too, never will.
PATIENCE_SECONDS = 600
MOST_MB = 1_500
# Rights of root that let it pass by the modes of files: DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER.
_CAPABILITIES, _DROP = (1, 2, 3), 24


class FailedError(Exception):
    """An attack had success."""


@dataclass(frozen=True, slots=True)
class Options:
    """How much of what can be repeated is done."""

    kills: int = 100
    races: int = 2_000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Result:
    """How a command ended."""

    command: str
    code: int
    out: str
    seconds: float
    """Of processor time, so that a busy machine does not count."""
    peak_mb: int


def check(condition: object, detail: str) -> None:
    """Fail an attack with a line that says what was seen."""
    if not condition:
        raise FailedError(detail)


def environment(place: Path) -> dict[str, str]:
    """An index, a ledger and a state folder of its own, one thread."""
    own = {"RLCLINIC_INDEX": f"{place}/index.sqlite", "RLCLINIC_LEDGER": f"{place}/trials.sqlite"}
    own["XDG_STATE_HOME"] = f"{place}/state"
    return {**os.environ, **own, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def start(
    place: Path,
    *arguments: object,
    env: Mapping[str, str] | None = None,
    unprivileged: bool = False,
    out: IO[bytes] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command in a group of its own, so that all of it can be ended."""
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        words,
        cwd=place,
        env={**environment(place), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=out or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=_drop_rights if unprivileged else None,
    )


def call(
    place: Path,
    *arguments: object,
    env: Mapping[str, str] | None = None,
    unprivileged: bool = False,
    patience: float = PATIENCE_SECONDS,
) -> Result:
    """Run a command to its end within bounds of time."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = start(place, *arguments, env=env, unprivileged=unprivileged, out=out)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > patience:
                end(process)
                raise FailedError(f"{_words(arguments)}: no end after {patience:g} s")
            time.sleep(0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    seconds = usage.ru_utime + usage.ru_stime
    return Result(_words(arguments), process.returncode, text, seconds, usage.ru_maxrss // 1024)


def sound(
    place: Path, *arguments: object, codes: tuple[int, ...] = CODES, most_mb: int = MOST_MB, **more: object
) -> Result:
    """Run a command that must end with a documented exit code, without a traceback, within bounds."""
    result = call(place, *arguments, **more)  # type: ignore[arg-type]
    last = result.out.strip().splitlines()[-1:] or [""]
    check("Traceback (most recent call last)" not in result.out, f"{result.command}: traceback, {last[0][:160]}")
    check(result.code in codes, f"{result.command}: exit code {result.code}, {last[0][:160]}")
    check(result.peak_mb <= most_mb, f"{result.command}: {result.peak_mb} MB")
    return result


def end(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it started, at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait()


def a_run(place: Path, name: str = "sb3/ppo_cartpole", to: str = "runs/victim") -> Path:
    """A recorded run as a folder that can be changed."""
    return Path(shutil.copytree(RUNS / name, place / to))


def trained(place: Path, **changes: object) -> Path:
    """A run as rlclinic itself leaves it behind, with other values in its config."""
    sound(place, "train", "CartPole-v1:a2c", "--steps", 300, "--quiet", *TINY, codes=(0,))
    run = (place / "runs" / "@last").resolve()
    edit(run / "config.json", **changes)
    return run


def edit(path: Path, **changes: object) -> None:
    """Set values in a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def moments(options: Options, count: int) -> list[float]:
    """Random shares of a command's duration."""
    rng = Random(options.seed)
    return [rng.random() for _ in range(count)]


Attack = Callable[[Path, Options], str]


def _words(arguments: tuple[object, ...]) -> str:
    return " ".join(Path(str(item)).name if os.sep in str(item) else str(item) for item in arguments)[:100]


def _drop_rights() -> None:
    """As root: go on without the rights that pass by the modes of files, as any other user does."""
    if os.getuid() == 0:
        library = ctypes.CDLL(None)
        for capability in _CAPABILITIES:
            library.prctl(_DROP, capability, 0, 0, 0)
