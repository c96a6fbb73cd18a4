"""`rlclinic trial`: prove or refute a change by training with and without it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlclinic.apps.cli.output import say, terminal_width, wants_colour
from rlclinic.apps.cli.reading import FILE, goal_option, task_options, trust_option
from rlclinic.model.errors import ExitCode, UsageError
from rlclinic.model.trial import OutcomeState, Trial, TrialVerdict
from rlclinic.model.vocabulary import steps_of

if TYPE_CHECKING:
    from rlclinic.model.run import Run
    from rlclinic.model.trial import Outcome
    from rlclinic.trials.plan import TrialPlan

FORMATS = ("text", "json", "html")


@click.command()
@click.argument("name", metavar="RUN", default="@last")
@click.option(
    "--change", "changes", multiple=True, metavar="KEY=VALUE", help="What to try; repeatable, tried together."
)
@click.option("--prescriptions", "count", type=int, default=1, show_default=True, help="How many of the leading ones.")
@goal_option
@click.option("--config", multiple=True, type=FILE, help="A config or training script of the run; repeatable.")
@task_options
@click.option("--seeds", type=int, default=5, show_default=True, help="Runs of each arm.")
@click.option("--budget", type=int, help="Env steps of every run; the run's own by default.")
@click.option("--command", default="", metavar="TEMPLATE", help="Your training command, with {learning_rate}, {seed} …")
@trust_option
@click.option("--runner", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option("--workers", type=int, help="Runs at a time; the number of cores by default.")
@click.option("--root", type=FILE, default=Path("runs"), show_default=True, help="Where ids are looked up and runs go.")
@click.option("--output-format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Short for --output-format json.")
@click.option("--output", "-o", type=FILE, help="Write to this file instead of the terminal.")
def trial(
    name: str,
    changes: tuple[str, ...],
    count: int,
    goal: float | None,
    config: tuple[Path, ...],
    environment: str,
    algorithm: str,
    seeds: int,
    budget: int | None,
    command: str,
    trust: tuple[str, ...],
    runner: str,
    workers: int | None,
    root: Path,
    form: str,
    as_json: bool,
    output: Path | None,
) -> None:
    """Train RUN again as it was and with a change, on the same seeds and budget, and say what that proves.

    The change is the leading prescription of its diagnosis, or --change. --goal is the return that counts as reached,
    for the diagnosis and for the trial. Every run is entered into a ledger as it
    ends: the same command goes on where a killed trial was. With --command your own trainer is run instead of
    rlclinic's: `--command "python train.py --lr {learning_rate} --seed {seed} --logdir {logdir}"`. Exit codes: 0 proved
    or inconclusive, 1 refuted, 2 an error, 5 no run could be judged.
    """
    from rlclinic.store.ledger import Ledger
    from rlclinic.trials.runners import runner_for
    from rlclinic.trials.trial import run_trial

    read = partial(_read, name, root, config, environment, algorithm)
    plan = _plan(read, changes, count, goal, seeds, budget, command, trust)
    quiet = as_json or form != "text"
    if not quiet:
        arms = ", ".join(arm.name for arm in plan.arms)
        say(f"trial {plan.id}: {arms}; {len(plan.seeds)} seeds each, {plan.budget:,} {steps_of(plan.algorithm)} a run")
    found = run_trial(
        plan,
        runner_for(runner, workers or os.cpu_count() or 1),
        ledger=Ledger(),
        root=root,
        on_outcome=None if quiet else tell_outcome,
    )
    _print(found, "json" if as_json else form, output)
    click.get_current_context().exit(int(exit_code(found)))


def exit_code(found: Trial) -> ExitCode:
    """Refuted is a finding; a trial in which no run ended could not be judged."""
    if not any(outcome.state is OutcomeState.DONE for outcome in found.outcomes):
        return ExitCode.NOTHING_READABLE
    return ExitCode.FINDINGS if found.leading.verdict is TrialVerdict.REFUTED else ExitCode.OK


def _read(name: str, root: Path, configs: tuple[Path, ...], environment: str, algorithm: str) -> Run:
    from rlclinic.readers.open import read
    from rlclinic.store.names import resolve

    paths = resolve(name, root=root)
    if len(paths) != 1:
        raise UsageError(f"{name} holds {len(paths)} runs", path=name, hint="name one of them")
    return read(paths[0], configs=configs, environment=environment, algorithm=algorithm)


def _plan(
    read: Callable[[], Run],
    changes: tuple[str, ...],
    count: int,
    goal: float | None,
    seeds: int,
    budget: int | None,
    command: str,
    trust: tuple[str, ...],
) -> TrialPlan:
    from rlclinic.engine import diagnose
    from rlclinic.trials.propose import plan_trial, testable

    run = read().with_goal(goal)
    leading = [] if changes else [item for item in diagnose(run).prescriptions if testable(item)][:count]
    return plan_trial(run, leading, overrides=changes, seeds=seeds, budget=budget, command=command, trust=trust)


def tell_outcome(outcome: Outcome, done: int, total: int) -> None:
    """One line for each run that ended."""
    what = f"return {outcome.final_return:.4g}" if outcome.state is OutcomeState.DONE else outcome.state.value
    why = f": {outcome.error}" if outcome.error else ""
    say(f"  {done}/{total} {outcome.arm}, seed {outcome.seed}: {what}{why}")


def _print(found: Trial, form: str, output: Path | None) -> None:
    from rlclinic.apps.cli.output import deliver
    from rlclinic.reports.trial_html import trial_html
    from rlclinic.reports.trial_json import trial_json_object
    from rlclinic.reports.trial_text import trial_text

    if form == "json":
        deliver(trial_json_object(found), output)
    elif form == "html":
        deliver(trial_html(found), output)
    else:
        deliver(trial_text(found, width=terminal_width(), colour=output is None and wants_colour()), output)
