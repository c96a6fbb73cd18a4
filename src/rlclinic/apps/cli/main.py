"""The `rlclinic` command: verbs, and what an error looks like."""

from __future__ import annotations

import gc
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click

from rlclinic import __version__
from rlclinic.apps.cli.output import write, write_error
from rlclinic.model.errors import ExitCode, RlclinicError, UsageError, contained

NEW_OBJECTS = 50_000
"""After how many new objects garbage is looked for: nearly all that a start makes stays."""
WELCOME = """\
rlclinic finds out why a reinforcement-learning run is not learning, and proves what helps.

  rlclinic PATH               diagnose a run: what is wrong, why, and what was not checked
  rlclinic @last              diagnose the newest run below runs/
  rlclinic show PATH          what was read: config, metrics, status, what could not be read
  rlclinic runs FOLDER        a table of every run below a folder
  rlclinic compare A B        runs side by side: outcomes, settings, where the curves part
  rlclinic watch PATH         follow runs while they train: findings, forecast, alerts
  rlclinic fix PATH           the prescribed change in your own config file
  rlclinic explain CODE       what a rule or probe sees, or what a cause means
  rlclinic train ENV:ALGO     train with Stable-Baselines3 or TorchRL; status and stop follow it
  rlclinic trial RUN          train with and without the leading change, and say what that proves
  rlclinic optimize ENV:ALGO  reach the threshold in the fewest env steps
  rlclinic probe TRAINER      find the broken component of a trainer: sb3:PPO, mymodule:make_trainer
  rlclinic examine ENV        find out whether reward, environment or task is what is wrong
  rlclinic imitate ENV        learn from an expert: behaviour cloning, DAgger and its variants
  rlclinic offline DATASET    learn from recorded steps: cloning, TD3+BC, IQL, CQL, Decision Transformer
  rlclinic advise             whether RL fits a problem, which approach, which settings; cited
  rlclinic samples PATH       the logged responses of a language model that are worth reading
  rlclinic mcp                serve all of this to coding agents; agents install teaches them
  rlclinic demo               all of it on one small task

PATH is a run folder or a file of it: TensorBoard, W&B, MLflow, CSV, JSONL or a console log.
Every verb takes --help, and --json where it has a result.
"""

# Verbs by the module of this package that holds them, a command of the same name each. They are imported when asked
# for, so that no verb waits for what another needs.
VERBS = (
    "diagnose", "show", "runs", "compare", "watch", "fix", "explain", "train", "status", "stop", "trial", "optimize",
    "probe", "examine", "imitate", "offline", "advise", "samples", "mcp", "agents", "demo",
)  # fmt: skip


class Verbs(click.Group):
    """A group whose verbs are imported when asked for, and in which `rlclinic PATH` means `rlclinic diagnose PATH`."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f"rlclinic.apps.cli.{name}"), name)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if arguments and arguments[0] not in VERBS:
            _check_is_no_verb(arguments[0])
            arguments = ["diagnose", *arguments]
        elif arguments and Path(arguments[0]).is_dir() and self._means_the_folder(context, arguments):
            arguments = ["diagnose", *arguments]
        return super().resolve_command(context, arguments)

    def _means_the_folder(self, context: click.Context, arguments: list[str]) -> bool:
        """Whether options after the name of a verb and of a folder are such as only a diagnosis takes."""
        given = {word.partition("=")[0] for word in arguments[1:] if word.startswith("--")}
        mine, other = (
            {name for option in command.get_params(context) for name in option.opts}
            for verb in ("diagnose", arguments[0])
            if (command := self.get_command(context, verb)) is not None
        )
        return bool(given - other) and given <= mine


def _check_is_no_verb(word: str) -> None:
    """A misspelt verb must not be looked for as a run."""
    meant = get_close_matches(word, VERBS, n=1, cutoff=0.75)
    if meant and word.isalpha() and not Path(word).exists():
        raise UsageError(f"no verb and no run is called {word!r}", hint=f"did you mean `rlclinic {meant[0]}`?")


@click.group(
    cls=Verbs,
    help="Find out why a reinforcement-learning run is not learning.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="rlclinic", message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        write(WELCOME)


def main() -> None:
    """Run the command line; an error becomes its message and its exit code, never a traceback."""
    gc.set_threshold(NEW_OBJECTS)
    try:
        with contained():
            app(prog_name="rlclinic")
    except RlclinicError as error:
        try:
            write_error(error, as_json="--json" in sys.argv)
        except OSError:
            # stdout itself is what cannot be written.
            write_error(error, as_json=False)
        sys.exit(int(error.exit_code))
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is no error of ours.
        sys.stderr.close()
        sys.exit(int(ExitCode.OK))
