"""`rlclinic mcp`: serve runs, diagnoses and training to coding agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO

import click

from rlclinic.model.errors import UsageError

FOLDER = click.Path(path_type=Path)
# A token among the arguments would stand in the list of processes, for every user to see.
TOKEN = "RLCLINIC_MCP_TOKEN"


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--root", type=FOLDER, default=Path(), help="The project; nothing outside of it is touched.")
@click.option("--http", is_flag=True, help="Serve HTTP on the loopback interface instead of stdio.")
@click.option("--port", type=click.IntRange(1, 65535), default=8765, show_default=True, help="With --http.")
@click.option("--token-file", type=click.File(), help=f"With --http: holds the token; else {TOKEN}, else one is made.")
@click.option("--name", default="rlclinic", show_default=True, help="Name it goes by, for example gymnasium-solver.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Trainings at a time.")
@click.option("--trainer", "trainers", multiple=True, metavar="MODULE:NAME", help="May be imported to be probed.")
@click.option("--json", "as_json", is_flag=True, help="Print the tools as JSON and end.")
def mcp(
    root: Path,
    http: bool,
    port: int,
    token_file: TextIO | None,
    name: str,
    jobs: int,
    trainers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Serve the tools of rlclinic over the Model Context Protocol, those of gymnasium-solver's server among them.

    Runs are looked for below ROOT, first in ROOT/runs; training configs are the reference ones and those of
    ROOT/config/environments. Trainings and trials go on when the server ends, and are found again by the next one.
    """
    from rlclinic.apps.mcp.workspace import Workspace

    if not root.is_dir():
        raise UsageError("no such folder", path=str(root), hint="name the folder of your project with --root")
    workspace = Workspace(root.resolve(), jobs, trainers)
    try:
        if as_json:
            from rlclinic.apps.cli.output import write_json
            from rlclinic.apps.mcp.registry import TOOLS

            rows = [{"name": row.name, "title": row.title, "effect": row.effect} for row in TOOLS]
            write_json({"schema": "rlclinic.mcp/1", "root": str(workspace.root), "name": name, "tools": rows})
            return
        from rlclinic.apps.mcp.serve import serve_http, serve_stdio

        if http:
            # Taken out of the environment: the trainings that the server starts need it not.
            told = os.environ.pop(TOKEN, "") if token_file is None else token_file.read()
            serve_http(workspace, name, port, told.strip())
        else:
            serve_stdio(workspace, name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("rlclinic"):
            raise
        raise UsageError(f"the server needs {error.name}", hint="pip install 'rlclinic[mcp]'") from error
