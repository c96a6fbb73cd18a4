"""`rlclinic compare`: runs side by side, and what a folder of runs has taught about an environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from rlclinic.apps.cli.output import Progress, deliver, terminal_width, wants_colour, write_error
from rlclinic.apps.cli.reading import FILE, read_runs, run_options
from rlclinic.model.errors import ExitCode, NothingReadable, RlclinicError
from rlclinic.model.run import Run

# By format the file of `reports` and its function.
COMPARISON = {
    "text": ("compare_text", "comparison_text"),
    "markdown": ("compare_markdown", "comparison_markdown"),
    "json": ("compare_json", "comparison_object"),
    "html": ("compare_html", "comparison_html"),
}
HISTORY = {
    "text": ("history_formats", "history_text"),
    "markdown": ("history_formats", "history_markdown"),
    "json": ("history_json", "history_object"),
    "html": ("history_formats", "history_html"),
}
# Runs beside RUN that are read for the best one where no folder was asked for; the index knows them next time.
MOST_READ = 200


@click.command()
@run_options
@click.option(
    "--history", "folder", type=FILE,
    help="Where the best run is looked for; by default the runs' own folder, of which the newest are read.",
)  # fmt: skip
@click.option("--no-history", is_flag=True, help="Compare the named runs with each other only.")
@click.option("--reference", is_flag=True, help="Hold each RUN against known-good runs and published returns.")
@click.option("--change", metavar="KEY", default="", help="The setting that is meant to differ; say what else does.")
@click.option(
    "--env",
    "environment",
    default="",
    help="The environment of RUN, where its files do not tell; without RUN, the one that --history is asked about.",
)
@click.option("--algorithm", default="", help="The algorithm of RUN; without RUN, only runs of this algorithm.")
@click.option("--output-format", "form", type=click.Choice(tuple(COMPARISON)), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Short for --output-format json.")
@click.option("--output", "-o", type=FILE, help="Write to this file instead of the terminal.")
def compare(
    source: dict[str, Any],
    folder: Path | None,
    no_history: bool,
    reference: bool,
    change: str,
    environment: str,
    algorithm: str,
    form: str,
    as_json: bool,
    output: Path | None,
) -> None:
    """Compare runs: outcomes, the settings that differ, where the curves part and what moved first.

    RUN is named as in `rlclinic show`. The best run of the same environment below --history is shown beside them; one
    RUN alone is compared with the best of its environment and algorithm. Runs that differ in their seeds alone are
    summarised over them. --reference sets each RUN beside known-good runs of its task and algorithm: its return and
    every metric against their bands, and the settings that differ, what matters most first. Without RUN, `--history
    ROOT --env ENV` says which configs were best there, what separates good from bad runs and what to try next. Exit
    codes: 0, 2 a usage error or a missing path, 5 nothing to compare.
    """
    form = "json" if as_json else form
    if environment and not any(source[name] for name in ("names", "metrics", "log")):
        _history(folder or source["root"] or Path("runs"), environment, algorithm, form, output)
        return
    from rlclinic.comparison.compare import compare as run_comparison

    runs, errors = read_runs(source, environment, algorithm)
    for error in errors:
        write_error(error, as_json=form == "json" and not runs)
    if not runs:
        click.get_current_context().exit(_exit_code(runs, errors))
    named = folder or source["root"]
    found = run_comparison(
        runs,
        history=None if no_history else named or _common_folder(runs),
        progress=Progress("reading runs"),
        reference=reference,
        change=change,
        most=None if named else MOST_READ,
    )
    _deliver(COMPARISON[form], found, form, output)
    click.get_current_context().exit(_exit_code(runs, errors))


def _history(root: Path, environment: str, algorithm: str, form: str, output: Path | None) -> None:
    from rlclinic.comparison.history import history

    found = history(root, environment, algorithm, progress=Progress("reading runs"))
    _deliver(HISTORY[form], found, form, output)
    click.get_current_context().exit(int(ExitCode.OK if found.best else ExitCode.NOTHING_READABLE))


def _deliver(row: tuple[str, str], value: object, form: str, output: Path | None) -> None:
    from importlib import import_module

    function: Callable[..., object] = getattr(import_module(f"rlclinic.reports.{row[0]}"), row[1])
    style = {"width": terminal_width(), "colour": wants_colour()} if form == "text" else {}
    deliver(function(value, **style), output)


def _common_folder(runs: Sequence[Run]) -> Path | None:
    """The folder that holds the first run; never the whole home or disk."""
    path = runs[0].location.absolute()
    parent = path.parent.parent if path.is_file() else path.parent
    whole = parent == Path(parent.anchor) or parent == Path.home()
    return parent if parent.is_dir() and not whole else None


def _exit_code(runs: Sequence[Run], errors: Sequence[RlclinicError]) -> int:
    if any(not isinstance(error, NothingReadable) for error in errors):
        return int(ExitCode.ERROR)
    if errors or not any(len(series) for run in runs for series in run.series.values()):
        return int(ExitCode.NOTHING_READABLE)
    return int(ExitCode.OK)
