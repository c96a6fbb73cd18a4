"""`rlclinic show`: what was read of a run."""

from __future__ import annotations

from pathlib import Path

import click

from rlclinic.apps.cli.output import write, write_error, write_json
from rlclinic.model.errors import ExitCode, NothingReadable, RlclinicError, UsageError
from rlclinic.model.run import Run

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("names", nargs=-1, metavar="RUN...")
@click.option("--metrics", multiple=True, type=FILE, help="A file of metrics; repeatable.")
@click.option("--log", multiple=True, type=FILE, help="A console log; repeatable.")
@click.option("--config", multiple=True, type=FILE, help="A config file; repeatable.")
@click.option("--map", "mapping", multiple=True, metavar="METRIC=COLUMN", help="What a column means; repeatable.")
@click.option("--root", type=FILE, help="Where ids and @last are looked up; runs/ or here by default.")
@click.option("--all", "everything", is_flag=True, help="Show long lists whole.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def show(
    context: click.Context,
    names: tuple[str, ...],
    metrics: tuple[Path, ...],
    log: tuple[Path, ...],
    config: tuple[Path, ...],
    mapping: tuple[str, ...],
    root: Path | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Show what was read of a run: identity, config, metrics found and missing, status, where it comes from.

    RUN is a path, a run id or the unique beginning of one, a glob, @last (the default) or @best. Files that lie
    apart are read as one run with --metrics, --log and --config. Exit code 5 means that no metric could be read,
    2 that the run does not exist.
    """
    from rlclinic.reports.run_json import show_object
    from rlclinic.reports.run_text import show_text

    columns = parse_map(mapping)
    found, errors = _read(names, metrics, log, config, columns, root)
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
    context.exit(_exit_code(found, errors))


def parse_map(pairs: tuple[str, ...]) -> dict[str, str]:
    """`metric=column` pairs as a mapping."""
    columns: dict[str, str] = {}
    for pair in pairs:
        metric, separator, column = pair.partition("=")
        if not separator or not metric or not column:
            raise UsageError(f"--map {pair!r} is not METRIC=COLUMN", hint="for example --map return/train=my_reward")
        columns[metric.strip()] = column.strip()
    return columns


def _read(
    names: tuple[str, ...],
    metrics: tuple[Path, ...],
    logs: tuple[Path, ...],
    configs: tuple[Path, ...],
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
    for name in names or ("@last",):
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
