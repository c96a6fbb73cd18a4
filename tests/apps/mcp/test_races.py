"""While another process swaps folders for links as fast as it can, nothing outside the root is told."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from rlclinic.apps.mcp.bound import BoundTool
from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.apps.mcp.workspace import Workspace
from tests.apps.mcp.talk import RUNS, SOLVER, text_of

MARKER = "ZEBRA7"
# The folder, the link that takes its place, and where the folder waits meanwhile.
SWAP = """\
import os, sys
folder, link, aside = sys.argv[1:]
print("ready", flush=True)
while True:
    os.rename(folder, aside)
    os.rename(link, folder)
    os.rename(folder, link)
    os.rename(aside, folder)
"""
SWAPPED = {
    "the run": f"runs/{SOLVER}",
    "the folder of runs": "runs",
    "a folder of the run": f"runs/{SOLVER}/checkpoints",
    "the folder of configs": "config/environments",
    "the folder of jobs": ".rlclinic/jobs",
}
JOB = "trial-20260115-103000-0a1b"
CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "the run": [
        ("get_run_info", {"run_id": SOLVER}),
        ("get_run_logs", {"run_id": SOLVER}),
        ("list_available_metrics", {"run_id": SOLVER}),
        ("list_checkpoints", {"run_id": SOLVER}),
        ("show_run", {"run_id": SOLVER}),
        ("get_training_status", {"run_id": SOLVER}),
    ],
    "the folder of configs": [
        ("list_environments", {}),
        ("list_variants", {"env_id": "CartPole-v1"}),
        ("get_config", {"env_id": "CartPole-v1", "variant": "ppo"}),
    ],
    "the folder of jobs": [("trial_status", {"trial_id": JOB}), ("get_training_status", {"run_id": JOB})],
}
CALLS["the folder of runs"] = [*CALLS["the run"], ("list_runs", {})]
CALLS["a folder of the run"] = CALLS["the run"]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root, and beside it the same once more with a marker in every file and file name."""
    monkeypatch.setenv("RLCLINIC_INDEX", str(tmp_path / "index.sqlite"))
    monkeypatch.setenv("RLCLINIC_LEDGER", str(tmp_path / "trials.sqlite"))
    for name, mark in (("root", ""), ("outside", MARKER)):
        _project(tmp_path / name, mark)
    return tmp_path / "root"


def _project(top: Path, mark: str) -> None:
    run = top / "runs" / SOLVER
    shutil.copytree(RUNS / "gymnasium_solver" / "runs" / SOLVER, run)
    config = json.loads((run / "config.json").read_text(encoding="utf-8"))
    (run / "config.json").write_text(json.dumps({**config, "notes": f"plain{mark}"}), encoding="utf-8")
    lines = (run / "metrics.csv").read_text(encoding="utf-8").splitlines()[:20]
    (run / "metrics.csv").write_text("\n".join([f"{lines[0]},x{mark}", *(f"{line},1" for line in lines[1:])]))
    (run / "run.log").write_text(f"a line {mark}\n")
    (run / "status.json").write_text(json.dumps({"state": "crashed", "reason": f"of {mark}"}))
    (run / "checkpoints" / f"model{mark}.ckpt").write_text(mark)
    configs = top / "config" / "environments"
    configs.mkdir(parents=True)
    (configs / "CartPole-v1.yaml").write_text(f"ppo: {{algo_id: ppo, env_id: CartPole-v1, n_steps{mark}: 32}}\n")
    (configs / f"Other{mark}-v1.yaml").write_text("ppo: {algo_id: ppo, env_id: CartPole-v1}\n")
    job = top / ".rlclinic" / "jobs" / JOB
    job.mkdir(parents=True)
    facts = {"id": JOB, "kind": "trial", "what": f"it{mark}", "pid": 1, "started": 0.5}
    facts |= {"process_started": "", "host": ""}
    (job / "job.json").write_text(json.dumps(facts))
    (job / "words").write_text(f"error: it failed {mark}\n")
    (job / "answer").write_text(json.dumps({"error": {"message": mark, "hint": ""}}))


@contextmanager
def _swapping(root: Path, name: str) -> Iterator[None]:
    """The folder is a link to its counterpart outside half of the time."""
    link = root.parent / "link"
    link.symlink_to(root.parent / "outside" / name)
    arguments = [str(root / name), str(link), str(root.parent / "aside")]
    with subprocess.Popen([sys.executable, "-S", "-c", SWAP, *arguments], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield
        finally:
            process.kill()


def _race(root: Path, what: str, seconds: float) -> tuple[int, int]:
    """Call tools for a while; how many calls there were, and how many succeeded."""
    tools = {row.name: row for row in TOOLS}
    calls, succeeded, until = 0, 0, time.monotonic() + seconds

    async def call(tool: str, arguments: dict[str, Any]) -> bool:
        # A workspace of its own each time: what was read before is read again.
        result = await BoundTool(tools[tool], Workspace(root)).answer(arguments)
        told = text_of(result)
        assert MARKER not in told, f"{tool} told what lies outside: {told}"
        assert "inside rlclinic" not in told, told
        return not result.is_error

    with _swapping(root, SWAPPED[what]):
        while time.monotonic() < until:
            for tool, arguments in CALLS[what]:
                succeeded += anyio.run(call, tool, arguments)
                calls += 1
    return calls, succeeded


@pytest.mark.parametrize("what", sorted(SWAPPED))
def test_a_folder_that_becomes_a_link_while_tools_read_tells_nothing_outside(root: Path, what: str) -> None:
    calls, _ = _race(root, what, 0.25)
    assert calls


@pytest.mark.slow
@pytest.mark.parametrize("what", sorted(SWAPPED))
def test_thousands_of_racing_calls_tell_nothing_outside(root: Path, what: str) -> None:
    calls, succeeded = _race(root, what, 30.0)
    assert calls > 100
    assert succeeded
