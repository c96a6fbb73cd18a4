"""`rlclinic demo`: the whole job on one small task. Everything is trained, diagnosed and tried while you watch."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlclinic.apps.cli.output import terminal_width, wants_colour, write
from rlclinic.apps.cli.reading import FILE
from rlclinic.apps.cli.trial import exit_code, tell_outcome
from rlclinic.model.errors import RlclinicError
from rlclinic.store.files import write_whole

if TYPE_CHECKING:
    from rlclinic.model.diagnosis import Diagnosis
    from rlclinic.model.prescription import Prescription
    from rlclinic.model.run import Run
    from rlclinic.model.trial import Trial

TASK = "CartPole-v1:ppo"
# A rate for plain gradient descent, carried over to Adam: the mistake of the demo.
MISTAKE = "learning_rate=0.1"
STEPS = 20_000
SEEDS = 3


@click.command()
@click.option("--root", type=FILE, default=Path("demo"), show_default=True, help="Where runs and pages go.")
@click.option("--steps", type=int, default=STEPS, show_default=True, help="Env steps of every run.")
def demo(root: Path, steps: int) -> None:
    """Train PPO on CartPole with a mistake, diagnose it, apply the first prescription, and prove that it helps.

    Needs `pip install 'rlclinic[train]'` and about two minutes on two cores. Nothing is canned.
    """
    started = time.monotonic()
    root.mkdir(parents=True, exist_ok=True)
    _heading(1, f"Train {TASK} for {steps:,} steps with a mistake: {MISTAKE}")
    run = _train(root, steps)
    _heading(2, "Diagnose the run")
    diagnosis = _diagnose(run, root)
    prescription = _first_change(diagnosis)
    _heading(3, f"Apply the first prescription: {prescription.instruction}")
    write(f"{prescription.native.text if prescription.native else ''}\n")
    _heading(4, f"Train both again on {SEEDS} paired seeds")
    found = _try(run, prescription, root)
    _heading(5, "Before and after")
    _show(found, root)
    write(f"\n{time.monotonic() - started:.0f} s. Pages: {root / 'diagnosis.html'} and {root / 'trial.html'}\n")
    click.get_current_context().exit(int(exit_code(found)))


def _heading(number: int, text: str) -> None:
    write(f"\n[{number}/5] {text}\n\n")


def _train(root: Path, steps: int) -> Run:
    from rlclinic.lab.asking import recipe_from
    from rlclinic.lab.train import train
    from rlclinic.readers.open import read

    changes = (MISTAKE, "learning_rate_schedule=constant", f"total_steps={steps}", "stop_at_threshold=false")
    path = train(recipe_from(TASK, changes), root / "runs")
    return read(path)


def _diagnose(run: Run, root: Path) -> Diagnosis:
    from rlclinic.engine import diagnose
    from rlclinic.reports.diagnosis_html import diagnosis_html
    from rlclinic.reports.diagnosis_text import diagnosis_text

    diagnosis = diagnose(run)
    write(diagnosis_text(diagnosis, width=terminal_width(), colour=wants_colour()))
    write_whole(root / "diagnosis.html", diagnosis_html(diagnosis))
    return diagnosis


def _first_change(diagnosis: Diagnosis) -> Prescription:
    from rlclinic.trials.propose import testable

    found = next((item for item in diagnosis.prescriptions if testable(item)), None)
    if found is None:
        raise RlclinicError("the diagnosis prescribes no change of the config", path=diagnosis.run.path)
    return found


def _try(run: Run, prescription: Prescription, root: Path) -> Trial:
    from rlclinic.store.ledger import Ledger
    from rlclinic.trials.propose import plan_trial
    from rlclinic.trials.runners import runner_for
    from rlclinic.trials.trial import run_trial

    plan = plan_trial(run, [prescription], seeds=SEEDS)
    # A ledger of its own: the demo neither reads nor changes what the user's trials measured.
    ledger = Ledger(root / "trials.sqlite")
    return run_trial(plan, runner_for("local", os.cpu_count() or 1), ledger=ledger, root=root, on_outcome=tell_outcome)


def _show(found: Trial, root: Path) -> None:
    from rlclinic.reports.trial_html import trial_html
    from rlclinic.reports.trial_text import trial_text

    write(trial_text(found, width=terminal_width(), colour=wants_colour()))
    write_whole(root / "trial.html", trial_html(found))
