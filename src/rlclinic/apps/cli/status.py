"""`rlclinic status`: how training runs stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlclinic.apps.cli.output import write_json, write_lines
from rlclinic.apps.cli.reading import FILE
from rlclinic.apps.cli.training_progress import duration
from rlclinic.model.errors import UsageError

if TYPE_CHECKING:
    from rlclinic.lab.overview import RunOverview


@click.command()
@click.argument("root", type=FILE, default=Path("runs"))
@click.option("--all", "show_all", is_flag=True, help="Also runs that have ended.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(root: Path, show_all: bool, as_json: bool) -> None:
    """Say which training runs below ROOT are active, how far they are and how long they still need.

    A run whose process was killed is shown as interrupted. Exit code 0, also where nothing runs.
    """
    from rlclinic.lab.overview import run_overviews

    if not root.is_dir():
        raise UsageError("no such folder", path=str(root), hint="name the folder that holds the runs")
    found = run_overviews(root)
    if as_json:
        write_json({"schema": "rlclinic.status/1", "runs": [overview.to_json() for overview in found]})
        return
    running = [overview for overview in found if overview.state in ("running", "unknown")]
    shown = found if show_all or (root / "status.json").is_file() else running
    ended = len(found) - len(running)
    lines = [_line(overview) for overview in shown] or [f"no active runs below {root}"]
    if ended and len(shown) == len(running):
        lines.append(f"{ended} ended; --all shows them")
    write_lines(lines)


def _line(overview: RunOverview) -> str:
    parts = [overview.id, f"{overview.algorithm} on {overview.environment}", overview.state]
    total = f"/{overview.total_steps:,}" if overview.total_steps else ""
    parts.append(f"{overview.env_steps:,}{total} steps")
    if overview.train_return is not None:
        parts.append(f"return {overview.train_return:.4g}")
    if overview.seconds_left is not None:
        parts.append(f"{duration(overview.seconds_left)} left")
    if overview.state == "running":
        parts.append(f"process {overview.pid}")
    else:
        parts.append(overview.reason)
    return "  ".join(parts)
