"""`rlclinic runs`: every run below a folder."""

from __future__ import annotations

from pathlib import Path

import click

from rlclinic.apps.cli.output import Progress, write, write_error, write_json
from rlclinic.model.errors import ExitCode, NothingReadable, RlclinicError, RunReadError

SORT_KEYS = ("id", "framework", "algorithm", "environment", "status", "steps", "last", "best", "started", "path")


@click.command()
@click.argument("root", required=False, type=click.Path(path_type=Path))
@click.option("--sort", type=click.Choice(SORT_KEYS), default="path", show_default=True, help="Sort by this column.")
@click.option("--reverse", "-r", is_flag=True, help="Largest first.")
@click.option("--framework", default="", help="Only runs of this framework.")
@click.option("--algorithm", default="", help="Only runs of this algorithm.")
@click.option("--env", "environment", default="", help="Only environments whose name holds this.")
@click.option("--status", default="", help="Only runs with this status.")
@click.option("--limit", type=int, default=0, help="At most so many runs; 0 for all.")
@click.option("--index/--no-index", default=True, help="Use what was read before.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def runs(
    context: click.Context,
    root: Path | None,
    sort: str,
    reverse: bool,
    framework: str,
    algorithm: str,
    environment: str,
    status: str,
    limit: int,
    index: bool,
    as_json: bool,
) -> None:
    """List every run below a folder: id, framework, algorithm, environment, status, steps, returns.

    ROOT is runs/ or the current folder by default. What was read is remembered, so that the second look at a
    folder is instant; changed files are noticed. Exit code 5 means that there is no run.
    """
    from rlclinic.reports.run_json import runs_object
    from rlclinic.reports.run_text import runs_text
    from rlclinic.store.index import RunIndex
    from rlclinic.store.listing import list_runs

    folder = root or (Path("runs") if Path("runs").is_dir() else Path())
    if not folder.is_dir():
        raise RunReadError("no such folder", path=str(folder), hint="name the folder that holds your runs")
    store = None if index else RunIndex(Path(":memory:"))
    listing = list_runs(folder, index=store, progress=Progress("reading runs"))
    filters = {"framework": framework, "algorithm": algorithm, "status": status, "environment": environment}
    chosen = listing.chosen(sort, reverse=reverse, **filters)
    chosen = chosen[:limit] if limit > 0 else chosen
    if as_json:
        write_json(runs_object(listing.root, chosen, listing.errors))
    elif chosen:
        write(runs_text(chosen))
    if not as_json:
        for item in listing.errors:
            write_error(RlclinicError(str(item["message"]), path=str(item["path"])), as_json=False)
    if not chosen:
        if not as_json:
            message = "no run fits the filters" if listing.summaries else "no run found below this folder"
            write_error(NothingReadable(message, path=str(folder)), as_json=False)
        context.exit(int(ExitCode.NOTHING_READABLE))
