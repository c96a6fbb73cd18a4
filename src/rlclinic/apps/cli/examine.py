"""`rlclinic examine`: what is wrong with an environment, its reward or its task."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlclinic.apps.cli.output import deliver, say, terminal_width, wants_colour
from rlclinic.apps.cli.reading import FILE, trust_option
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.environment_facts import EnvironmentFacts
from rlclinic.model.errors import ExitCode, UsageError
from rlclinic.model.finding import Severity
from rlclinic.reference.environment_names import is_plain_id
from rlclinic.reports.formats import Context, find_format, render

if TYPE_CHECKING:
    from rlclinic.environment.isolate import Request

FORMATS = ("text", "markdown", "json", "html")
SCHEMA = "rlclinic.examine/1"


@click.command()
@click.argument("environment", metavar="ENV", required=False)
@click.option(
    "--arg", "arguments", multiple=True, metavar="KEY=VALUE", help="An argument of the environment; repeatable."
)
@click.option(
    "--component",
    "components",
    multiple=True,
    metavar="[NAME=]KEY",
    help="Where info tells a part of the reward (dots for keys inside); repeatable. reward_NAME is found by itself.",
)
@click.option(
    "--oracle", metavar="MODULE:FUNCTION", default="", help="A policy that should do well: observation to action."
)
@click.option(
    "--policy",
    metavar="MODULE:FUNCTION|ZIP|RUN",
    default="",
    help="The trained policy: a function, a checkpoint of SB3 (its tensors alone are read), a run of rlclinic train.",
)
@click.option(
    "--reward",
    metavar="MODULE:FUNCTION",
    default="",
    help="A reward function for language models instead of an environment: which answers does it pay?",
)
@click.option("--samples", type=FILE, help="With --reward: JSONL with prompts and their right answers.")
@click.option("--trace", type=FILE, help="Recorded steps instead of a running environment: npz, hdf5, csv, parquet.")
@click.option("--run", "run_name", metavar="RUN", default="", help="A run trained in it: both are judged together.")
@click.option(
    "--budget", type=click.FloatRange(1.0), default=40.0, show_default=True, metavar="SECONDS", help="Time to spend."
)
@trust_option
@click.option(
    "--all", "every", is_flag=True, help="Tell the findings of all tiers, not only of the first that explains."
)
@click.option("--output-format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Short for --output-format json.")
@click.option("--output", "-o", type=FILE, help="Write to this file instead of the terminal.")
@click.option("--fail-on", type=click.Choice(("error", "warning", "info", "never")), default="error", show_default=True)
def examine(
    environment: str | None,
    arguments: tuple[str, ...],
    components: tuple[str, ...],
    oracle: str,
    policy: str,
    reward: str,
    samples: Path | None,
    trace: Path | None,
    run_name: str,
    budget: float,
    trust: tuple[str, ...],
    every: bool,
    form: str,
    as_json: bool,
    output: Path | None,
    fail_on: str,
) -> None:
    """Examine an environment: does the reward carry a signal, does the environment behave, is the task within reach?

    ENV is a Gymnasium id (CartPole-v1), module:Class or module:make_env, a PettingZoo parallel or TorchRL environment
    made so, or a config of rlclinic or rl-zoo. Its code runs in a process of its own, with a time limit. With --run the
    run's environment is examined where ENV is left out, and both are judged as one. Reward, environment and task are
    told in this order, up to the first that explains. Exit codes as in diagnose.

    With --reward a reward function as verl, TRL or a plain (response, answer) has it is tried on right, wrong, empty,
    cut, repeated and format-only answers and on some that fool lax verifiers. It alone is run, in a child process.
    """
    if reward:
        _examine_reward(reward, samples, output, as_json=as_json or form == "json")
        return
    from rlclinic.engine import examine as judge
    from rlclinic.environment.isolate import Request
    from rlclinic.environment.make import around_of

    run = _run(run_name) if run_name else None
    name = environment or (run.environment if run is not None else "")
    if trace is None and not name:
        raise UsageError("nothing to examine", hint="name an environment, or recorded steps with --trace")
    if trace is None and not environment and not is_plain_id(name):
        raise UsageError(f"the run names {name!r}, which is no id", hint="where you trust that code, name it as ENV")
    if trace is not None:
        facts = _traced(trace, name)
    else:
        request = Request(name, _arguments(arguments), budget, oracle, policy, _named(components), trust)
        facts = _examined(request if run is None else replace(request, around=around_of(run)))
    found = _told(judge(facts, run), every=every)
    if found.decision_path and found.decision_path[0].startswith("Symptom"):
        say(found.decision_path[0])
    chosen = "json" if as_json else form
    if chosen == "json":
        deliver(examination_object(found), output)
    else:
        context = Context(terminal_width(), wants_colour() and output is None)
        deliver(render(find_format(chosen), [found], context), output)
    click.get_current_context().exit(_exit_code(found, fail_on))


def _examine_reward(function: str, samples: Path | None, output: Path | None, *, as_json: bool) -> None:
    from rlclinic.environment.reward_answers import Problem
    from rlclinic.environment.reward_function import review_reward
    from rlclinic.readers.samples import read_problems
    from rlclinic.reports.reward_formats import reward_object, reward_text

    problems = [Problem(*row) for row in read_problems(samples)] if samples is not None else []
    review = review_reward(function, problems)
    colour = wants_colour() and output is None
    deliver(reward_object(review) if as_json else reward_text(review, width=terminal_width(), colour=colour), output)
    click.get_current_context().exit(ExitCode.OK if review.is_sound else ExitCode.FINDINGS)


def examination_object(found: Diagnosis) -> dict[str, Any]:
    """The diagnosis with what was measured."""
    from rlclinic.reports.diagnosis_json import diagnosis_object

    measured = found.environment.to_json() if found.environment is not None else None
    for episode in measured["shown"] if measured is not None else ():
        # Pictures are for the page.
        episode["frames"] = len(episode["frames"])
    return {**diagnosis_object(found), "schema": SCHEMA, "environment": measured}


def _run(name: str) -> Any:
    from rlclinic.store.reading import read

    return read(name)


def _traced(path: Path, name: str) -> EnvironmentFacts:
    from rlclinic.facts.environment.measure import facts_of, table_of
    from rlclinic.model.transitions import Observed
    from rlclinic.readers.transitions.trace import read_trace

    steps = read_trace(path)
    return facts_of(Observed(name or path.stem, steps, table_of(steps), len(steps)), "trace")


def _examined(request: Request) -> EnvironmentFacts:
    from rlclinic.environment.isolate import examine_isolated

    facts = examine_isolated(request, _progress)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    return facts


def _named(components: tuple[str, ...]) -> dict[str, str]:
    pairs = (text.partition("=") for text in components)
    return {name if path else name.rpartition(".")[2]: path or name for name, _, path in pairs}


def _arguments(pairs: tuple[str, ...]) -> dict[str, object]:
    from rlclinic.readers.formats.yaml.safe_yaml import load_yaml

    found: dict[str, object] = {}
    for pair in pairs:
        key, separator, text = pair.partition("=")
        if not separator or not key.isidentifier():
            raise UsageError(f"--arg {pair!r} is not KEY=VALUE", hint="for example --arg is_slippery=false")
        found[key] = load_yaml(text).data
    return found


def _progress(doing: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{doing} ...")
        sys.stderr.flush()


def _told(found: Diagnosis, *, every: bool) -> Diagnosis:
    """The findings up to the first tier that explains, and what is left out said."""
    from rlclinic.rules.documentation import find_rule
    from rlclinic.rules.rule import DecisionStep

    order = list(DecisionStep)
    steps = {item.code: rule.rule.step for item in found.findings if (rule := find_rule(item.code)) is not None}
    grave = [steps[item.code] for item in found.findings if item.severity.rank > 0 and item.family == "environment"]
    ranks = [order.index(step) for step in grave if step is not None]
    if every or not ranks or found.run.series:
        return found
    first = min(ranks)
    left = [item for item in found.findings if (step := steps[item.code]) is not None and order.index(step) > first]
    later = [item for item in left if item.severity.rank > 0]
    if later:
        say(f"{len(later)} findings of later tiers are left out; --all tells them")
    return replace(found, findings=tuple(item for item in found.findings if item not in left))


def _exit_code(found: Diagnosis, fail_on: str) -> int:
    if fail_on != "never" and any(item.severity.rank >= Severity(fail_on).rank for item in found.findings):
        return int(ExitCode.FINDINGS)
    return int(ExitCode.OK if found.checked else ExitCode.NOTHING_READABLE)
