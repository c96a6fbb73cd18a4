"""The Python that d3rlpy runs in: its pins conflict with those of this package, so it has an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

from rlclinic.model.errors import UsageError

# Versions that were tried together; d3rlpy 2.8.1 asks for gymnasium 1.0.0.
PINS = ("d3rlpy==2.8.1", "gymnasium==1.0.0", "torch==2.13.0", "numpy==2.4.6", "scipy==1.17.1")
SETUP = "rlclinic offline --setup"
VARIABLE = "RLCLINIC_OFFLINE"


def home() -> Path:
    """Where the environment lies: RLCLINIC_OFFLINE, else the user's cache folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "rlclinic" / "d3rlpy"


def worker_python() -> Path:
    """The interpreter that has d3rlpy; UsageError with the command that installs it where there is none."""
    found = _interpreter(home())
    if not found.is_file():
        raise UsageError(
            f"d3rlpy is not there: it needs a Python environment of its own, in {home()}",
            hint=f"{SETUP} installs it, or take --algo bc or filtered-bc, which need none",
        )
    return found


def set_up(say: Callable[[str], None]) -> Path:
    """Make the environment and install d3rlpy with its pins; the interpreter."""
    folder = home()
    python = _interpreter(folder)
    say(f"a Python environment for d3rlpy in {folder}, about 1 GB: {', '.join(PINS)}")
    if not python.is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        venv.create(folder, with_pip=True, symlinks=os.name != "nt")
    done = subprocess.run([str(python), "-m", "pip", "install", *PINS], stdout=sys.stderr, check=False)
    works = done.returncode == 0 and subprocess.run([str(python), "-P", "-c", "import d3rlpy"], check=False)
    if not works or works.returncode:
        raise UsageError("d3rlpy was not installed", path=str(folder), hint="see what pip says above, and try again")
    return python


def _interpreter(folder: Path) -> Path:
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"
