"""Scripts that tests run apart: processes that are killed, that have no rights, that work on one thing at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Root may write everywhere; without its capabilities it is a user like others.
_UNPRIVILEGED = """
import ctypes, os, sys
if os.geteuid() == 0:
    libc = ctypes.CDLL(None)
    if libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()):
        sys.exit(77)
from rlclinic.apps.cli import main
main()
"""
CANNOT = 77


def driven(script: str, *arguments: str | Path) -> str:
    """What a script prints that must end well."""
    found = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def unprivileged(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command line as a user without special rights."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root keeps its rights on this system")
    command = [sys.executable, "-c", _UNPRIVILEGED, *map(str, arguments)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if found.returncode == CANNOT:
        pytest.skip("root cannot give up its rights here")
    return found
