"""What gymnasium-solver's server does with uploads, and what rlclinic offers instead."""

from __future__ import annotations

from rlclinic.apps.mcp.reply import Reply
from rlclinic.apps.mcp.workspace import Workspace


class Instead(Reply):
    success: bool
    message: str
    instead: list[str]
    """Tools of this server that answer what lies behind the question."""


def run_publish(workspace: Workspace, run_id: str = "@last", repo: str | None = None, private: bool = False) -> Instead:  # noqa: FBT001, FBT002
    """Not done here: rlclinic uploads nothing. Answers what can be shared instead."""
    return _instead(
        "rlclinic sends nothing to other machines; publish with your own tools",
        "diagnose: its report can be written to a file with `rlclinic diagnose RUN --output-format html -o FILE`",
        "list_checkpoints for the files that would be published",
    )


def _instead(message: str, *tools: str) -> Instead:
    return Instead(success=False, message=message, instead=list(tools)).said(f"{message}. Call {tools[0]}.")
