"""`rlclinic probe`: run a trainer on tiny environments whose right answer is known."""

from __future__ import annotations

import sys

import click

from rlclinic.apps.cli.output import write_json, write_lines
from rlclinic.model.errors import ExitCode

BAR = 24


@click.command()
@click.argument("trainer")
@click.option(
    "--preflight", is_flag=True, help="The quick set before a real training: the basic probes, two seeds each."
)
@click.option("--locate", is_flag=True, help="After a failure run what tells the suspected components apart, too.")
@click.option("--only", multiple=True, metavar="PROBE", help="Only this probe (P8, P5.arms, S0); may be repeated.")
@click.option("--gamma", type=float, default=0.7, show_default=True, help="Discount that the trainer is built with.")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True, help="Seeds run side by side.")
@click.option("--stall-seconds", type=float, default=120.0, show_default=True, help="A seed without progress hangs.")
@click.option(
    "--first-seed",
    type=click.IntRange(0),
    default=5000,
    show_default=True,
    help="Seeds count from here: that of a failure runs it again, another one tries other seeds.",
)
@click.option("--all-cases", is_flag=True, help="List skipped cases one by one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def probe(
    trainer: str,
    preflight: bool,
    locate: bool,
    only: tuple[str, ...],
    gamma: float,
    processes: int,
    stall_seconds: float,
    first_seed: int,
    all_cases: bool,
    as_json: bool,
) -> None:
    """Find the broken component of a TRAINER: sb3:PPO, torchrl:SAC or package.module:make_trainer."""
    from rlclinic.probes.ladder import chosen_probes
    from rlclinic.probes.load import check_name
    from rlclinic.probes.run import run_probes
    from rlclinic.probes.words import report_lines

    check_name(trainer)
    probes = chosen_probes(only, preflight=preflight)
    report = run_probes(
        trainer,
        probes,
        gamma=gamma,
        preflight=preflight,
        locate=locate,
        processes=processes,
        stall_seconds=stall_seconds,
        first_seed=first_seed,
        progress=_show_progress,
    )
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    if as_json:
        write_json(report.to_json())
    else:
        write_lines(report_lines(report, all_cases=all_cases))
    if report.failed:
        sys.exit(int(ExitCode.FINDINGS))
    if not report.judged:
        sys.exit(int(ExitCode.NOTHING_READABLE))


def _show_progress(done: int, total: int, what: str) -> None:
    """A bar on a terminal; a plain line per finished case in a pipe would only repeat the report, so none there."""
    if sys.stderr.isatty():
        full = BAR * done // max(total, 1)
        sys.stderr.write(f"\r\x1b[K[{'#' * full}{'.' * (BAR - full)}] {done}/{total} {what}")
        sys.stderr.flush()
