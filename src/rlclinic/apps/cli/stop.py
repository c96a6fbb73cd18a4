"""`rlclinic stop`: let a training run save and end."""

from __future__ import annotations

from pathlib import Path

import click

from rlclinic.apps.cli.output import write_json, write_lines
from rlclinic.apps.cli.reading import FILE
from rlclinic.apps.cli.train import run_folder


@click.command()
@click.argument("run")
@click.option("--root", type=FILE, help="Where ids and @last are looked up; runs/ by default.")
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds to wait for the end.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def stop(run: str, root: Path | None, timeout: float, as_json: bool) -> None:
    """Ask the process of a training run to save and end.

    The process is one that you started for this very folder: what only its status.json names is sent nothing.
    """
    from rlclinic.lab.background import stop as stop_run

    folder = run_folder(run, root)
    told = stop_run(folder, timeout)
    if as_json:
        state = folder.state()
        facts = {} if state is None else state.to_json()
        write_json({"schema": "rlclinic.stop/1", "id": folder.id, "path": str(folder.path), "message": told, **facts})
        return
    write_lines([f"{folder.path} {told}"])
