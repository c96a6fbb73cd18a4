"""`rlclinic diagnose`: what is wrong with a run, and why."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from rlclinic.apps.cli.output import deliver, say, terminal_width, wants_colour, write_error
from rlclinic.apps.cli.reading import FILE, goal_option, read_runs, run_options, task_options
from rlclinic.apps.settings import SEVERITIES, Settings, check_fail_on, load_settings
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import ExitCode, InternalError, NothingReadable, RlclinicError, UsageError
from rlclinic.model.finding import Severity
from rlclinic.model.prescription import Priority
from rlclinic.reports.formats import FORMATS, Context, find_format, render
from rlclinic.reports.page import Detail

NAMES = tuple(row.name for row in FORMATS)


@click.command()
@run_options
@task_options
@goal_option
@click.option("--output-format", "form", type=click.Choice(NAMES), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Short for --output-format json.")
@click.option("--brief", "detail", flag_value="brief", help="Only the answer: five lines, two for a healthy run.")
@click.option("--verbose", "-v", "detail", flag_value="full", help="Everything that was found out.")
@click.option("--output", "-o", type=FILE, help="Write to this file instead of the terminal.")
@click.option(
    "--fail-on", metavar="WORDS", help="Exit with 1 at these severities, priorities or verdicts; error by default."
)
@click.option("--select", multiple=True, metavar="RULE", help="Only these rules: code, name or family; repeatable.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Not these rules; repeatable.")
@click.option("--code", type=FILE, metavar="DIR", help="Your training code: a suspected bug is shown in it.")
def diagnose(
    source: dict[str, Any],
    environment: str,
    algorithm: str,
    goal: float | None,
    form: str,
    as_json: bool,
    detail: Detail | None,
    output: Path | None,
    fail_on: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    code: Path | None,
) -> None:
    """Say what is wrong with a run and why: verdict, findings with their arithmetic, causes with probabilities.

    RUN is named as in `rlclinic show`. --goal says what return would be enough: a run that missed it with its whole
    budget is also told what would make it learn faster. Exit codes: 0 nothing at or above --fail-on, 1 findings, 2 a
    usage error or a missing path, 5 nothing could be checked. Settings come from [tool.rlclinic] in pyproject.toml or
    rlclinic.toml.
    """
    from rlclinic.engine import diagnose as run_diagnosis
    from rlclinic.rules.registry import check_names, checked_limits

    check_fail_on(fail_on or "never")
    runs, errors = read_runs(source, environment, algorithm)
    settings = _settings([run.location for run in runs])
    chosen, left_out = (*settings.select, *select), (*settings.ignore, *ignore)
    check_names((*chosen, *left_out))
    limits = checked_limits(settings.thresholds)
    diagnoses: list[Diagnosis] = []
    for run in runs:
        try:
            diagnoses.append(run_diagnosis(run, goal=goal, select=chosen, ignore=left_out, limits=limits, code=code))
        except InternalError as error:
            errors.append(error)
    _print(diagnoses, errors, "json" if as_json else form, detail or "normal", output)
    click.get_current_context().exit(_exit_code(diagnoses, errors, fail_on or settings.fail_on))


def _settings(runs: list[Path]) -> Settings:
    """The user's settings; those that lie in a run come from whoever made it, and are not taken."""
    settings = load_settings(Path())
    if settings.path is None:
        return settings
    if any(settings.path.resolve().is_relative_to(run.resolve()) for run in runs if run.is_dir()):
        say(f"settings inside the run are not taken: {settings.path}")
        return Settings()
    if settings != Settings(path=settings.path):
        say(f"settings of {settings.path}")
    return settings


def _print(
    diagnoses: list[Diagnosis], errors: list[RlclinicError], form: str, detail: Detail, output: Path | None
) -> None:
    if form == "json":
        objects = [_json(item) for item in diagnoses] + [error.to_json() for error in errors]
        many = {"schema": "rlclinic.diagnoses/1", "diagnoses": objects}
        deliver(objects[0] if len(objects) == 1 else many, output)
        return
    row = find_format(form)
    if row.scope == "one" and len(diagnoses) > 1 and not row.overview:
        raise UsageError(f"a report as {form} is of one run", hint="name one run")
    if form == "github":
        _step_summary(diagnoses)
    if diagnoses:
        deliver(render(row, diagnoses, _context(form, detail)), output)
    for error in errors:
        write_error(error, as_json=False)


def _context(form: str, detail: Detail) -> Context:
    guides: dict[str, dict[str, str]] = {}
    if form == "sarif":
        from rlclinic.rules.documentation import page_of
        from rlclinic.rules.registry import RULES

        guides = {row.code: dict(page_of(row).sections) for row in RULES}
    root = os.environ.get("GITHUB_WORKSPACE") or str(Path().absolute())
    return Context(terminal_width(), wants_colour(), detail, root, guides)


def _step_summary(diagnoses: list[Diagnosis]) -> None:
    """Add the whole reports to the summary of a GitHub step, as far as there is room in its file."""
    from rlclinic.reports.github import SUMMARY_BYTES, step_summary

    named = os.environ.get("GITHUB_STEP_SUMMARY")
    if not named:
        return
    path = Path(named)
    try:
        room = SUMMARY_BYTES - (path.stat().st_size if path.exists() else 0)
        with path.open("a", encoding="utf-8") as file:
            file.write(step_summary(diagnoses, room) if room > 0 else "")
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", path=named) from error


def _json(diagnosis: Diagnosis) -> dict[str, Any]:
    from rlclinic.reports.diagnosis_json import diagnosis_object

    return diagnosis_object(diagnosis)


def _fails(diagnosis: Diagnosis, word: str) -> bool:
    """Whether a diagnosis has the verdict, or something of at least the grade, that a word of --fail-on names."""
    if word in SEVERITIES:
        return any(finding.severity.rank >= Severity(word).rank for finding in diagnosis.findings)
    if word in list(Priority):
        return any(item.priority.rank <= Priority(word).rank for item in diagnosis.prescriptions)
    return diagnosis.verdict.value == word


def _exit_code(diagnoses: list[Diagnosis], errors: list[RlclinicError], fail_on: str) -> int:
    """The worst of all runs: 2, then 1, then 5."""
    broken = any(not item.checked and any(rule.error for rule in item.not_checked) for item in diagnoses)
    if broken or any(not isinstance(error, NothingReadable) for error in errors):
        return int(ExitCode.ERROR)
    if any(_fails(item, word) for item in diagnoses for word in check_fail_on(fail_on)):
        return int(ExitCode.FINDINGS)
    unread = any(not item.checked or not any(map(len, item.run.series.values())) for item in diagnoses)
    if errors or unread:
        return int(ExitCode.NOTHING_READABLE)
    return int(ExitCode.OK)
