"""`rlclinic show`: what was read of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rlclinic.apps.cli.output import write, write_error, write_json
from rlclinic.model.errors import ExitCode, NothingReadable, RlclinicError, UsageError
from rlclinic.model.run import Run


def show(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="RUN...", help="Paths, ids, @last, @best, globs.")
    ] = None,
    metrics: Annotated[list[Path] | None, typer.Option("--metrics", help="A file of metrics; repeatable.")] = None,
    log: Annotated[list[Path] | None, typer.Option("--log", help="A console log; repeatable.")] = None,
    config: Annotated[list[Path] | None, typer.Option("--config", help="A config file; repeatable.")] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="METRIC=COLUMN", help="What a column means; repeatable."),
    ] = None,
    root: Annotated[Path | None, typer.Option("--root", help="Where ids and @last are looked up.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show long lists whole.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what was read of a run: identity, config, metrics found and missing, status, where it comes from.

    Files that lie apart are read as one run with --metrics, --log and --config. Exit code 5 means that no
    metric could be read, 2 that the run does not exist.
    """
    from rlclinic.reports.run_json import show_object
    from rlclinic.reports.run_text import show_text

    columns = parse_map(mapping or [])
    found, errors = _read(names or [], metrics or [], log or [], config or [], columns, root)
    if as_json and len(found) + len(errors) == 1:
        write_json(show_object(found[0]) if found else errors[0].to_json())
    elif as_json:
        write_json(
            {
                "schema": "rlclinic.shows/1",
                "runs": [show_object(run) for run in found],
                "errors": [error.to_json()["error"] for error in errors],
            }
        )
    else:
        write("\n".join(show_text(run, everything=everything) for run in found))
        for error in errors:
            write_error(error, as_json=False)
    raise typer.Exit(_exit_code(found, errors))


def parse_map(pairs: list[str]) -> dict[str, str]:
    """`metric=column` pairs as a mapping."""
    columns: dict[str, str] = {}
    for pair in pairs:
        metric, separator, column = pair.partition("=")
        if not separator or not metric or not column:
            raise UsageError(f"--map {pair!r} is not METRIC=COLUMN", hint="for example --map return/train=my_reward")
        columns[metric.strip()] = column.strip()
    return columns


def _read(
    names: list[str],
    metrics: list[Path],
    logs: list[Path],
    configs: list[Path],
    columns: dict[str, str],
    root: Path | None,
) -> tuple[list[Run], list[RlclinicError]]:
    from rlclinic.readers.open import read, read_files
    from rlclinic.store.names import resolve

    if metrics or logs or configs:
        if names:
            raise UsageError("name either a run or its files, not both")
        return [read_files(metrics=metrics, logs=logs, configs=configs, columns=columns)], []
    found: list[Run] = []
    errors: list[RlclinicError] = []
    for name in names or ["@last"]:
        try:
            for path in resolve(name, root=root):
                found.append(read(path, columns=columns))
        except RlclinicError as error:
            errors.append(error)
    return found, errors


def _exit_code(found: list[Run], errors: list[RlclinicError]) -> int:
    if any(not isinstance(error, NothingReadable) for error in errors):
        return int(ExitCode.ERROR)
    if errors or not any(len(series) for run in found for series in run.series.values()):
        return int(ExitCode.NOTHING_READABLE)
    return int(ExitCode.OK)
