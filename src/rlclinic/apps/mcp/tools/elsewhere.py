"""What gymnasium-solver's server does with windows and uploads, and what rlclinic offers instead."""

from __future__ import annotations

from typing import Any

from rlclinic.apps.mcp.reply import Reply
from rlclinic.apps.mcp.workspace import Workspace


class Instead(Reply):
    success: bool
    message: str
    instead: list[str]
    """Tools of this server that answer what lies behind the question."""


def run_play(
    workspace: Workspace,
    run_id: str | None = None,
    config_id: str | None = None,
    episodes: int = 1,
    deterministic: bool = False,  # noqa: FBT001, FBT002
    headless: bool = True,  # noqa: FBT001, FBT002
    mode: str | None = None,
    seed: int | None = None,
    env_kwargs: dict[str, Any] | None = None,
    show_preprocessing: bool = False,  # noqa: FBT001, FBT002
    show_cnn_filters: bool = False,  # noqa: FBT001, FBT002
) -> Instead:
    """Not done here: rlclinic plays no policies. Answers which tools tell how well a policy does."""
    return _instead(
        "rlclinic does not play policies; how well one does is in the run's evaluations",
        "get_run_metrics with return/eval",
        "list_checkpoints for the best checkpoint",
        "diagnose for the difference between training and evaluation",
    )


def run_inspect(
    workspace: Workspace,
    run_id: str = "@last",
    port: int = 7860,
    host: str = "localhost",
    share: bool = False,  # noqa: FBT001, FBT002
    seed: int | None = None,
    env_kwargs: dict[str, Any] | None = None,
) -> Instead:
    """Not done here: rlclinic opens no window. Answers which tools show a run."""
    return _instead(
        "rlclinic opens no inspector",
        "show_run for everything that was read",
        "plot_run_metric for a picture",
        "diagnose for what is wrong and why",
    )


def run_publish(workspace: Workspace, run_id: str = "@last", repo: str | None = None, private: bool = False) -> Instead:  # noqa: FBT001, FBT002
    """Not done here: rlclinic uploads nothing. Answers what can be shared instead."""
    return _instead(
        "rlclinic sends nothing to other machines; publish with your own tools",
        "diagnose: its report can be written to a file with `rlclinic diagnose RUN --output-format html -o FILE`",
        "list_checkpoints for the files that would be published",
    )


def _instead(message: str, *tools: str) -> Instead:
    return Instead(success=False, message=message, instead=list(tools)).said(f"{message}. Call {tools[0]}.")
