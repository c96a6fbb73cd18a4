"""`rlclinic runs`: every run below a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from rlclinic.apps.cli.output import Progress, write, write_error, write_json
from rlclinic.model.errors import ExitCode, NothingReadable, RlclinicError, RunReadError


class SortKey(StrEnum):
    """Columns that the table can be sorted by."""

    ID = "id"
    FRAMEWORK = "framework"
    ALGORITHM = "algorithm"
    ENVIRONMENT = "environment"
    STATUS = "status"
    STEPS = "steps"
    LAST = "last"
    BEST = "best"
    STARTED = "started"
    PATH = "path"


def runs(
    root: Annotated[Path | None, typer.Argument(help="The folder to look below; runs/ or here by default.")] = None,
    sort: Annotated[SortKey, typer.Option("--sort", help="Sort by this column.")] = SortKey.PATH,
    reverse: Annotated[bool, typer.Option("--reverse", "-r", help="Largest first.")] = False,
    framework: Annotated[str, typer.Option("--framework", help="Only runs of this framework.")] = "",
    algorithm: Annotated[str, typer.Option("--algorithm", help="Only runs of this algorithm.")] = "",
    environment: Annotated[str, typer.Option("--env", help="Only environments whose name holds this.")] = "",
    status: Annotated[str, typer.Option("--status", help="Only runs with this status.")] = "",
    limit: Annotated[int, typer.Option("--limit", help="At most so many runs; 0 for all.")] = 0,
    index: Annotated[bool, typer.Option("--index/--no-index", help="Use what was read before.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List every run below a folder: id, framework, algorithm, environment, status, steps, returns.

    What was read is remembered, so that the second look at a folder is instant; changed files are noticed.
    Exit code 5 means that there is no run.
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
    wanted = {"framework": framework, "algorithm": algorithm, "status": status}
    chosen = [row for row in listing.summaries if _fits(row, wanted, environment)]
    chosen = _sorted(chosen, sort, reverse=reverse)
    chosen = chosen[:limit] if limit > 0 else chosen
    if as_json:
        write_json(runs_object(str(folder), chosen, listing.errors))
    elif chosen:
        write(runs_text(chosen))
    if not as_json:
        for item in listing.errors:
            write_error(RlclinicError(str(item["message"]), path=str(item["path"])), as_json=False)
    if not chosen:
        if not as_json:
            message = "no run fits the filters" if listing.summaries else "no run found below this folder"
            write_error(NothingReadable(message, path=str(folder)), as_json=False)
        raise typer.Exit(int(ExitCode.NOTHING_READABLE))


def _fits(row: dict[str, Any], wanted: dict[str, str], environment: str) -> bool:
    same = all(not value or str(row[key]).lower() == value.lower() for key, value in wanted.items())
    return same and environment.lower() in str(row["environment"]).lower()


def _sorted(rows: list[dict[str, Any]], key: SortKey, *, reverse: bool) -> list[dict[str, Any]]:
    """Sorted by a column; runs without the value stand last either way."""
    with_value = [row for row in rows if _value(row, key) is not None]
    rest = [row for row in rows if _value(row, key) is None]
    return sorted(with_value, key=lambda row: _value(row, key), reverse=reverse) + rest


def _value(row: dict[str, Any], key: SortKey) -> Any:
    if key in (SortKey.LAST, SortKey.BEST):
        return row["return"][key.value]
    return row["started_at" if key is SortKey.STARTED else key.value]
