"""`python -m rlclinic` is the same as `rlclinic`."""

import os
import sys

# `python -m` puts the current folder first: what lies there must not stand in for a library's module.
if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - pathlib would be looked for there
    del sys.path[0]

from rlclinic.apps.cli import main

main()
