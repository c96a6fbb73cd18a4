"""The command line."""

from rlclinic.apps.cli.main import main

__all__ = ["main"]
