"""The `rlclinic` command: verbs, and what an error looks like."""

from __future__ import annotations

import sys

import click

from rlclinic import __version__
from rlclinic.apps.cli.agents import agents
from rlclinic.apps.cli.compare import compare
from rlclinic.apps.cli.demo import demo
from rlclinic.apps.cli.diagnose import diagnose
from rlclinic.apps.cli.explain import explain
from rlclinic.apps.cli.fix import fix
from rlclinic.apps.cli.mcp import mcp
from rlclinic.apps.cli.optimize import optimize
from rlclinic.apps.cli.output import write, write_error
from rlclinic.apps.cli.probe import probe
from rlclinic.apps.cli.runs import runs
from rlclinic.apps.cli.show import show
from rlclinic.apps.cli.status import status
from rlclinic.apps.cli.stop import stop
from rlclinic.apps.cli.train import train
from rlclinic.apps.cli.trial import trial
from rlclinic.model.errors import ExitCode, RlclinicError

WELCOME = """\
rlclinic finds out why a reinforcement-learning run is not learning.

  rlclinic PATH             diagnose a run: what is wrong, why, and what was not checked
  rlclinic show PATH        what was read: config, metrics, status, what could not be read
  rlclinic runs FOLDER      a table of every run below a folder
  rlclinic compare A B      runs side by side: outcomes, settings, where the curves part
  rlclinic @last            diagnose the newest run below runs/
  rlclinic train ENV:ALGO   train with Stable-Baselines3 or TorchRL; status and stop follow it
  rlclinic trial RUN        train with and without the leading change, and say what that proves
  rlclinic optimize ENV:ALGO  reach the threshold in the fewest env steps
  rlclinic fix PATH         the prescribed change in your own config file
  rlclinic explain CODE     what a rule sees, or what a cause means
  rlclinic mcp              serve all of this to coding agents over MCP
  rlclinic agents install   teach coding agents to use it
  rlclinic probe TRAINER    find the broken component of a trainer: sb3:PPO, mymodule:make_trainer

PATH is a run folder or a file of it: TensorBoard, W&B, MLflow, CSV, JSONL or a console log.
Every verb takes --json and --help.
"""


class DiagnoseByDefault(click.Group):
    """A group in which `rlclinic PATH` means `rlclinic diagnose PATH`."""

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if arguments and arguments[0] not in self.commands:
            arguments = ["diagnose", *arguments]
        return super().resolve_command(context, arguments)


@click.group(
    cls=DiagnoseByDefault,
    help="Find out why a reinforcement-learning run is not learning.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="rlclinic", message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        write(WELCOME)


app.add_command(diagnose)
app.add_command(show)
app.add_command(explain)
app.add_command(runs)
app.add_command(probe)
app.add_command(compare)
app.add_command(fix)
app.add_command(train)
app.add_command(status)
app.add_command(stop)
app.add_command(trial)
app.add_command(optimize)
app.add_command(mcp)
app.add_command(agents)
app.add_command(demo)


def main() -> None:
    """Run the command line; an error becomes its message and its exit code, never a traceback."""
    try:
        app(prog_name="rlclinic")
    except RlclinicError as error:
        write_error(error, as_json="--json" in sys.argv)
        sys.exit(int(error.exit_code))
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is no error of ours.
        sys.stderr.close()
        sys.exit(int(ExitCode.OK))
