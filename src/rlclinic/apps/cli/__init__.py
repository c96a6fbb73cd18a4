"""The command line."""

import sys

if sys.argv[1:2] == ["mcp"]:
    # A server starts without the other verbs: what they import would delay its first answer.
    from rlclinic.apps.cli.mcp import main
else:
    from rlclinic.apps.cli.main import main

__all__ = ["main"]
