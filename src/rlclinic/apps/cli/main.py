"""The `rlclinic` command: verbs, and what an error looks like."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rlclinic import __version__
from rlclinic.apps.cli import runs, show
from rlclinic.apps.cli.output import write, write_error
from rlclinic.model.errors import ExitCode, RlclinicError

WELCOME = """\
rlclinic reads what a training run left behind, whatever wrote it.

  rlclinic show PATH        what one run is: config, metrics, status, what could not be read
  rlclinic runs FOLDER      a table of every run below a folder
  rlclinic show @last       the newest run below runs/

PATH is a run folder or a file of it: TensorBoard, W&B, MLflow, CSV, JSONL or a console log.
Every verb takes --json and --help.
"""

app = typer.Typer(
    name="rlclinic",
    help="Find out why a reinforcement-learning run is not learning.",
    add_completion=True,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("show")(show.show)
app.command("runs")(runs.runs)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        write(f"rlclinic {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        write(WELCOME)


def main() -> None:
    """Run the command line; an error becomes its message and its exit code, never a traceback."""
    arguments = sys.argv[1:]
    try:
        app(arguments, prog_name="rlclinic", standalone_mode=True)
    except RlclinicError as error:
        write_error(error, as_json="--json" in arguments)
        sys.exit(int(error.exit_code))
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is no error of ours.
        sys.stderr.close()
        sys.exit(int(ExitCode.OK))
