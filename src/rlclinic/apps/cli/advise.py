"""`rlclinic advise`: whether RL fits, which approach, which settings; reasoned from facts and cited."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlclinic.apps.cli.output import deliver, say, terminal_width, wants_colour, write, write_json
from rlclinic.apps.cli.reading import FILE
from rlclinic.model.advice import Question
from rlclinic.model.errors import UsageError

if TYPE_CHECKING:
    from rlclinic.advisor.problem import Problem

TRACE = click.Path(exists=True, path_type=Path)
# A questionnaire is short; what is left is listed in the answer.
MOST_ASKED = 10
FORMATS = {
    "text": "advice_text",
    "markdown": "advice_markdown",
    "json": "advice_object",
    "html": "advice_html",
}


@click.command()
@click.argument("what", metavar="[QUESTION] [PROBLEM.yaml]", nargs=-1)
@click.option("--env", "environment", default="", help="The environment: a Gymnasium id, or module:Class of your own.")
@click.option("--algo", "algorithm", default="", help="The algorithm that settings are asked for.")
@click.option("--run", default="", help="A run of the problem; what its diagnosis found joins the facts.")
@click.option(
    "--dataset", type=TRACE, help="Recorded transitions: Minari, HDF5, npz, parquet or csv; they are measured."
)
@click.option(
    "--policy", metavar="MODULE:FUNCTION|RUN", default="", help="With --dataset: how far the data are from this policy."
)
@click.option(
    "--measure", is_flag=True, help="Play in --env, and with the model of --run; each says before what it costs."
)
@click.option(
    "--seconds", type=click.FloatRange(1.0), default=40.0, show_default=True, help="Work of each measurement."
)
@click.option(
    "--progress",
    default="",
    metavar="KEY|INDEX",
    help="With `reward --env`: what grows towards the goal, in info or seen.",
)
@click.option(
    "--gamma", type=click.FloatRange(0.0, 1.0), default=0.99, show_default=True, help="Discount of --progress."
)
@click.option("--fact", "told", multiple=True, metavar="KEY=VALUE", help="One more fact, as in a description.")
@click.option("--budget", type=click.FloatRange(0.0, min_open=True), help="Environment steps that can be afforded.")
@click.option("--questions", "list_questions", is_flag=True, help="List the questions and the facts, and end.")
@click.option("--ask/--no-ask", default=None, help="Ask for what is missing; by default on a terminal only.")
@click.option("--output-format", "form", type=click.Choice(tuple(FORMATS)), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Short for --output-format json.")
@click.option("--output", "-o", type=FILE, help="Write to this file instead of the terminal.")
def advise(
    what: tuple[str, ...],
    environment: str,
    algorithm: str,
    run: str,
    dataset: Path | None,
    policy: str,
    measure: bool,
    seconds: float,
    progress: str,
    gamma: float,
    told: tuple[str, ...],
    budget: float | None,
    list_questions: bool,
    ask: bool | None,
    form: str,
    as_json: bool,
    output: Path | None,
) -> None:
    """Advise on a problem: whether RL fits it, which approach, and with a QUESTION one setting.

    QUESTION is rl-or-not, algorithm, offline, dagger, batch-size, learning-rate, schedule, optimiser, discount, gae,
    network, exploration, reward or curriculum. PROBLEM.yaml describes the problem in facts such as
    `task: {action: box}`; --env, --run, --dataset and --fact add to it. On a terminal what is missing is asked for; in
    a pipe the questions are listed. Every rule that speaks is shown with the facts that made it speak, how far it can
    be trusted and its sources. Exit codes: 0, 2 a usage error.
    """
    from rlclinic.advisor.advise import STRATEGY, advice_on, known_problem
    from rlclinic.advisor.problem import with_answer
    from rlclinic.advisor.rules import QUESTIONS

    form = "json" if as_json else form
    if list_questions:
        _list_questions(as_json=form == "json")
        return
    question = next((word for word in what if word in QUESTIONS), "offline" if dataset else STRATEGY)
    if len(asked := [word for word in what if word in QUESTIONS]) > 1:
        raise UsageError(f"one question at a time, not {' and '.join(asked)}")
    described = _described([word for word in what if word != question], told)
    if budget is not None:
        described["budget.env_steps"] = budget
    problem = known_problem(described, environment, algorithm, run, trusted=True)
    if dataset is not None:
        problem = _with_dataset(problem, dataset, policy)
    if measure:
        problem = _measured(problem, environment, run, dataset, seconds)
    if progress:
        problem = _shaped(problem, environment, progress, gamma, seconds)
    found = advice_on(problem, question)
    if ask is None:
        ask = form == "text" and output is None and sys.stdin.isatty() and sys.stdout.isatty()
    skipped: set[str] = set()
    if ask and found.questions:
        click.echo(f"At most {MOST_ASKED} questions. Enter: not known; q: no more questions.")
    while ask and (open_questions := [item for item in found.questions if item.key not in skipped]):
        if len(skipped) == MOST_ASKED:
            break
        answer = _asked(open_questions[0])
        skipped.add(open_questions[0].key)
        if answer is None:
            break
        if answer:
            problem = with_answer(problem, open_questions[0].key, answer)
            found = advice_on(problem, question)
    render = getattr(import_module("rlclinic.reports.advice_formats"), FORMATS[form])
    style = {"width": terminal_width(), "colour": wants_colour()} if form == "text" else {}
    deliver(render(found, **style), output)


def _with_dataset(problem: Problem, path: Path, policy: str) -> Problem:
    from rlclinic.advisor.dataset import support, with_dataset
    from rlclinic.advisor.problem import derived
    from rlclinic.readers.transitions.trace import read_trace

    steps = read_trace(path, needs_rewards=False)
    say(f"measuring {len(steps):,} steps: a few seconds")
    measured = derived(with_dataset(problem, steps, str(path)))
    return measured.with_measurements(support(steps, policy)) if policy else measured


def _measured(problem: Problem, environment: str, run: str, dataset: Path | None, seconds: float) -> Problem:
    from rlclinic.advisor.measured_environment import measure_environment
    from rlclinic.advisor.measured_run import EPISODES, measure_run
    from rlclinic.advisor.problem import derived
    from rlclinic.readers.transitions.trace import read_trace
    from rlclinic.store.reading import read

    if not environment and not run:
        raise UsageError("nothing to measure", hint="name an environment with --env or a run with --run")
    if environment:
        say(f"playing in {environment}: up to {seconds:.0f} s of work in processes of its own")
        problem = measure_environment(problem, seconds)
    if run:
        say(f"playing {EPISODES} episodes of the run's policy and one update of it: about a minute")
        steps = read_trace(dataset, needs_rewards=False) if dataset is not None else None
        problem = measure_run(problem, Path(read(run).location), steps)
    return derived(problem)


def _shaped(problem: Problem, environment: str, progress: str, gamma: float, seconds: float) -> Problem:
    from rlclinic.advisor.shaping import shape_reward

    if not environment:
        raise UsageError("--progress needs an environment", hint="name it with --env")
    say(f"playing simple policies in {environment}: up to {seconds:.0f} s of work in a process of its own")
    return shape_reward(problem, progress, gamma, seconds)


def _described(names: list[str], told: tuple[str, ...]) -> dict[str, object]:
    from rlclinic.advisor.problem import read_problem

    found: dict[str, object] = {}
    for name in names:
        if not Path(name).exists():
            raise UsageError(f"neither a question nor a file: {name}", hint="`rlclinic advise --questions` lists them")
        found |= read_problem(Path(name))
    for pair in told:
        key, separator, value = pair.partition("=")
        if not separator:
            raise UsageError(f"--fact {pair!r} is not KEY=VALUE", hint="for example --fact task.action=box")
        found[key.strip()] = value.strip()
    return found


def _asked(question: Question) -> str | None:
    """The user's answer; empty where he does not know, None where he wants no more questions."""
    from rlclinic.advisor.fact_keys import fact_keys

    while True:
        answer = str(click.prompt(f"{question.text} ({question.answers})", default="", show_default=False))
        if answer.strip().lower() == "q":
            return None
        try:
            if answer:
                fact_keys()[question.key].parse(answer)
        except ValueError as error:
            click.echo(str(error), err=True)
            continue
        return answer


def _list_questions(*, as_json: bool) -> None:
    from rlclinic.advisor.fact_keys import fact_keys
    from rlclinic.advisor.rules import QUESTIONS

    keys = [entry for entry in fact_keys().values() if entry.ask]
    if as_json:
        facts = [{"key": entry.key, "question": entry.ask, "answers": entry.answers} for entry in keys]
        write_json({"schema": "rlclinic.advise/1", "questions": list(QUESTIONS), "facts": facts})
        return
    lines = [f"{entry.key}: {entry.ask} ({entry.answers})" for entry in keys]
    write("\n".join(["questions: " + ", ".join(QUESTIONS), "", *lines]) + "\n")
