"""Frameworks that read their own configs, each in one child process for all tests: their imports patch and warn."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from functools import cache
from typing import Any

from tests.conftest import RUNS

# The folder from which `tests` can be imported.
ROOT = RUNS.parents[2]


def parsed(framework: str, **request: object) -> dict[str, Any]:
    """What a framework makes of a config; AssertionError with its own traceback where it refuses."""
    child = _child()
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps({"framework": framework, **request}) + "\n")
    child.stdin.flush()
    answer = json.loads(child.stdout.readline() or '{"error": "the child process died"}')
    assert "error" not in answer, answer["error"]
    values: dict[str, Any] = answer["values"]
    return values


@cache
def _child() -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", __name__],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    atexit.register(child.kill)
    return child
