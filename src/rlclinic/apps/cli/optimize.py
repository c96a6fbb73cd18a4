"""`rlclinic optimize`: train, diagnose, prescribe, try, keep what holds."""

from __future__ import annotations

import os
import secrets
import sys
from functools import partial
from pathlib import Path

import click

from rlclinic.apps.cli.output import deliver, terminal_width, wants_colour
from rlclinic.apps.cli.reading import FILE, trust_option
from rlclinic.model.optimisation import Attempt


@click.command()
@click.argument("source", metavar="ENV:ALGO|CONFIG")
@click.option("--budget", type=int, required=True, help="Env steps of all runs together.")
@click.option(
    "--override", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a value to start with; repeatable."
)
@trust_option
@click.option("--runner", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option("--workers", type=int, help="Runs at a time; the number of cores by default.")
@click.option("--root", type=FILE, default=Path("runs"), show_default=True, help="Where the runs go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--output", "-o", type=FILE, help="Write to this file instead of the terminal.")
def optimize(
    source: str,
    budget: int,
    overrides: tuple[str, ...],
    trust: tuple[str, ...],
    runner: str,
    workers: int | None,
    root: Path,
    as_json: bool,
    output: Path | None,
) -> None:
    """Bring a task to its goal in the fewest env steps.

    Each run is diagnosed; what its diagnosis prescribes is tried first, Optuna searches in between, and a configuration
    is kept when it holds on several seeds. The result is the best configuration with its evidence and the curve of
    the best so far.
    """
    from rlclinic.lab.asking import recipe_from
    from rlclinic.reports.optimisation_sections import optimisation_object, optimisation_sections, summary
    from rlclinic.reports.text_blocks import page_text
    from rlclinic.trials.runners import runner_for

    try:
        from rlclinic.trials.optimize import optimize as run_optimisation
    except ModuleNotFoundError as error:
        from rlclinic.model.errors import UsageError

        raise UsageError(f"optimize needs {error.name}", hint="pip install 'rlclinic[optimize]'") from error

    count = workers or os.cpu_count() or 1
    recipe = recipe_from(source, overrides, trust=trust)
    found = run_optimisation(
        recipe,
        budget,
        runner_for(runner, count),
        root=root / "optimize" / f"{recipe.algorithm.lower()}-{secrets.token_hex(3)}",
        workers=count,
        on_attempt=None if as_json else partial(_tell, threshold=recipe.threshold),
    )
    if as_json:
        deliver(optimisation_object(found), output)
        return
    name = f"{found.environment} {found.algorithm}"
    word, tone = ("proved", "good") if found.proved else ("not proved", "caution")
    deliver(
        page_text(
            name,
            word,
            tone,  # type: ignore[arg-type]
            summary(found),
            optimisation_sections(found),
            width=terminal_width(),
            colour=output is None and wants_colour(),
        ),
        output,
    )


def _tell(attempt: Attempt, threshold: float | None) -> None:
    from rlclinic.reports.optimisation_sections import score_words

    what = score_words(attempt.outcome, threshold)
    sys.stderr.write(f"  run {attempt.number} ({attempt.origin.value}): {what}; {attempt.used:,.0f} steps used\n")
