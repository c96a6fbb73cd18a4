"""`rlclinic train`: train with a real library into a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlclinic.apps.cli.output import say, write_json, write_lines
from rlclinic.apps.cli.reading import FILE, trust_option
from rlclinic.apps.cli.training_progress import ProgressLine
from rlclinic.model.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from rlclinic.lab.folder import RunFolder
    from rlclinic.model.diagnosis import Diagnosis

# What a child process runs to train in the background.
_CHILD = "from rlclinic.apps.cli import main; main()"


@click.command()
@click.argument("source", required=False, metavar="ENV:ALGO|CONFIG")
@click.option("--override", "-o", "overrides", multiple=True, metavar="KEY=VALUE", help="Set a value; repeatable.")
@click.option("--steps", type=int, help="Budget in env steps; short for -o total_steps=N.")
@click.option("--seed", type=int, help="Random seed; short for -o seed=N.")
@click.option("--framework", type=click.Choice(["sb3", "torchrl"]), help="Library; the first that has the algorithm.")
@click.option("--root", type=FILE, default=Path("runs"), show_default=True, help="Where the run's folder is made.")
@click.option("--resume", metavar="RUN", help="Go on with a run from its last checkpoint.")
@trust_option
@click.option("--background", is_flag=True, help="Train in a process of its own; it goes on when this one ends.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def train(
    source: str | None,
    overrides: tuple[str, ...],
    steps: int | None,
    seed: int | None,
    framework: str | None,
    root: Path,
    resume: str | None,
    trust: tuple[str, ...],
    background: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Train ENV:ALGO with its reference configuration, or what a config file says.

    ENV is a Gymnasium id or module:Class, ALGO one of ppo, a2c, dqn, sac, td3, trpo, qrdqn, tqc, reinforce, mm-rkhs.
    CONFIG is a YAML or JSON file of canonical or gymnasium-solver's keys. Everything goes to ROOT/<id>: config.json,
    metrics.csv, run.log, status.json, checkpoints/, and report.md, the diagnosis at the end. Ctrl-C saves and ends; a
    killed run goes on with --resume. Exit codes: 0 trained, 2 an error, 130 interrupted.
    """
    short = {"total_steps": steps, "seed": seed}
    changes = (*overrides, *(f"{key}={value}" for key, value in short.items() if value is not None))
    folder, names = _folder(source, changes, framework, root, resume, trust)
    carry_out(folder, names, resume=resume is not None, background=background, quiet=quiet, as_json=as_json)


def carry_out(
    folder: RunFolder, names: frozenset[str], *, resume: bool, background: bool, quiet: bool, as_json: bool
) -> None:
    """Train the run of a folder, diagnose it and tell how it ended; or start a process that does."""
    from rlclinic.lab.errors import TrainingError

    if background:
        _in_background(folder, names, as_json=as_json)
        return
    try:
        _train(folder, names, resume=resume, quiet=quiet)
    except TrainingError:
        _report(folder)
        raise
    diagnosis = _report(folder)
    _tell(folder, diagnosis, as_json=as_json)
    state = folder.state()
    if state is not None and state.state == "interrupted":
        click.get_current_context().exit(int(ExitCode.INTERRUPTED))


def _folder(
    source: str | None,
    changes: tuple[str, ...],
    framework: str | None,
    root: Path,
    resume: str | None,
    trust: tuple[str, ...],
) -> tuple[RunFolder, frozenset[str]]:
    """The folder to train in, and the names in its config that may be imported."""
    if (source is None) == (resume is None):
        raise UsageError("name what to train, or a run to --resume", hint="for example rlclinic train CartPole-v1:ppo")
    if resume is not None:
        if changes or framework:
            raise UsageError("a resumed run keeps its config", hint="train anew: rlclinic train RUN -o key=value")
        return run_folder(resume, root), frozenset(trust)
    from rlclinic.lab.asking import asked
    from rlclinic.lab.train import prepare

    carried = asked(str(source), changes, framework=framework, trust=trust)
    for sentence in carried.left_out:
        say(f"left out: {sentence}")
    return prepare(carried.recipe, root), carried.recipe.trust


def run_folder(name: str, root: Path | None) -> RunFolder:
    """The folder of a run of the lab, by path, id or @last."""
    from rlclinic.lab.folder import open_folder
    from rlclinic.store.names import resolve

    if (Path(name) / "config.json").is_file():
        return open_folder(Path(name))
    paths = resolve(name, root=root)
    if len(paths) > 1:
        raise UsageError(f"{name} holds {len(paths)} runs", path=name, hint="name one of them")
    return open_folder(Path(paths[0]))


def _train(folder: RunFolder, trust: frozenset[str], *, resume: bool, quiet: bool) -> None:
    from rlclinic.lab.train import train_folder

    if not quiet:
        say(f"{'resuming' if resume else 'training'} {folder.path}")
    line = ProgressLine()
    try:
        train_folder(folder, None if quiet else line, is_new=not resume, trust=trust)
    finally:
        line.close()


def _in_background(folder: RunFolder, trust: frozenset[str], *, as_json: bool) -> None:
    from rlclinic.lab.background import start
    from rlclinic.store.children import python

    flags = [flag for name in sorted(trust) for flag in ("--trust", name)]
    pid = start(folder, python("-c", _CHILD, "train", "--resume", str(folder.path.absolute()), "--quiet", *flags))
    if as_json:
        write_json(
            {"schema": "rlclinic.train/1", "id": folder.id, "path": str(folder.path), "state": "running", "pid": pid}
        )
        return
    write_lines([f"training {folder.path} as process {pid}", f"  rlclinic status, rlclinic stop {folder.path}"])


def _report(folder: RunFolder) -> Diagnosis | None:
    """Diagnose the run and leave report.md in its folder; a diagnosis that fails must not fail the training."""
    from rlclinic.engine import diagnose
    from rlclinic.lab.folder import REPORT
    from rlclinic.readers.open import read
    from rlclinic.reports.diagnosis_markdown import diagnosis_markdown
    from rlclinic.store.files import write_whole

    try:
        diagnosis = diagnose(read(str(folder.path)))
        write_whole(folder.path / REPORT, diagnosis_markdown(diagnosis))
    except Exception as error:
        told = error.strerror if isinstance(error, OSError) else error
        say(f"no report: {type(error).__name__}: {told}")
        return None
    return diagnosis


def _tell(folder: RunFolder, diagnosis: Diagnosis | None, *, as_json: bool) -> None:
    from rlclinic.lab.overview import run_overviews

    overview = run_overviews(folder.path)[0]
    facts: dict[str, Any] = {
        **overview.to_json(),
        "verdict": None if diagnosis is None else str(diagnosis.verdict),
    }
    if as_json:
        write_json({"schema": "rlclinic.train/1", **facts})
        return
    lines = [f"{folder.path}", f"  {overview.state} at step {overview.env_steps:,}: {overview.reason}"]
    if overview.train_return is not None:
        lines.append(f"  return {overview.train_return:.4g} (mean of the last 100 training episodes)")
    if facts["verdict"]:
        lines.append(f"  verdict {facts['verdict']}; the diagnosis is in {folder.path / 'report.md'}")
    write_lines(lines)
