"""`rlclinic show`: what was read of a run."""

from __future__ import annotations

from typing import Any

import click

from rlclinic.apps.cli.output import write, write_error, write_json
from rlclinic.apps.cli.reading import read_runs, run_options, task_options
from rlclinic.model.errors import ExitCode, NothingReadable, RlclinicError
from rlclinic.model.run import Run


@click.command()
@run_options
@task_options
@click.option("--all", "everything", is_flag=True, help="Show long lists whole.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(source: dict[str, Any], environment: str, algorithm: str, everything: bool, as_json: bool) -> None:
    """Show what was read of a run: identity, config, metrics found and missing, status, where it comes from.

    RUN is a path, a run id or the unique beginning of one, a glob, @last (the default) or @best. Files that lie
    apart are read as one run with --metrics, --log and --config. --config with a RUN names the script or config that
    it was made with: its settings count where the run's own files say nothing, and scripts are never executed. Exit
    code 5 means that no metric could be read, 2 that the run does not exist.
    """
    from rlclinic.reports.run_json import show_object
    from rlclinic.reports.run_text import show_text

    found, errors = read_runs(source, environment, algorithm)
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
    click.get_current_context().exit(exit_code(found, errors))


def exit_code(found: list[Run], errors: list[RlclinicError]) -> int:
    """2 where something does not exist, 5 where nothing could be read."""
    if any(not isinstance(error, NothingReadable) for error in errors):
        return int(ExitCode.ERROR)
    if errors or not any(len(series) for run in found for series in run.series.values()):
        return int(ExitCode.NOTHING_READABLE)
    return int(ExitCode.OK)
