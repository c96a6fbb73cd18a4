"""Rules on the process: a positive, a near miss and healthy runs for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.run import Checkpoint, LogExcerpt, Provenance, Run, RunStatus, Status
from rlclinic.model.series import Series
from rlclinic.rules.process import (
    died_of_a_number,
    gaps_in_the_log,
    memory_ran_out,
    nothing_saved,
    process_died,
    stopped_before_budget,
    throughput_falls,
    warnings_in_log,
)
from tests.rules.scene import recorded, rising, scene


def test_a_crash_is_quoted() -> None:
    result = process_died.check(recorded("sb3/ppo_cartpole_env_crash"))
    assert result is not None
    assert result.severity is Severity.ERROR
    assert "after 2,816 env steps" in result.summary
    assert "RuntimeError: simulator connection lost after 3000 steps" in result.summary


def test_an_interrupt_is_no_crash() -> None:
    assert process_died.check(recorded("gymnasium_solver/runs/local-20260115-104500")) is None


def test_a_quotation_stays_on_one_line_and_is_cut() -> None:
    """constructed: an error with control characters."""
    status = RunStatus(Status.CRASHED, "x.log:1: bad\x1b[31m\nline " + "word " * 100)
    result = process_died.check(RunFacts(replace(scene().run, status=status)))
    assert result is not None
    assert "\n" not in result.summary
    assert "\x1b" not in result.summary
    assert len(result.summary) < 220


def test_an_error_about_memory_is_found_in_reason_and_log() -> None:
    result = memory_ran_out.check(recorded("verl/out_of_memory"))
    assert result is not None
    assert result.severity is Severity.ERROR
    assert "OutOfMemoryError" in result.summary
    assert memory_ran_out.check(recorded("sb3/ppo_cartpole_env_crash")) is None


@pytest.mark.parametrize(
    ("state", "kind", "found"),
    [(Status.CRASHED, "error", True), (Status.FINISHED, "error", False), (Status.CRASHED, "warning", False)],
)
def test_memory_counts_only_where_it_ended_the_run(state: Status, kind: str, *, found: bool) -> None:
    """constructed: the same line as an error and as a warning."""
    log = LogExcerpt("error" if kind == "error" else "warning", "out.log", 7, "MemoryError: Unable to allocate 4 GiB")
    run = replace(scene(status=state).run, logs=(log,))
    assert (memory_ran_out.check(RunFacts(run)) is not None) is found


@pytest.mark.parametrize(("reason", "severity"), [("x.log:9: Killed", Severity.WARNING), ("Killed by the user", None)])
def test_a_process_killed_without_a_word_may_have_run_out_of_memory(reason: str, severity: Severity | None) -> None:
    """constructed: what a shell prints of a process that the kernel ended."""
    run = replace(scene().run, status=RunStatus(Status.CRASHED, reason))
    result = memory_ran_out.check(RunFacts(run))
    assert (result and result.severity) is severity


@pytest.mark.parametrize(
    ("error", "found"),
    [
        ("RuntimeError: probability tensor contains either `inf`, `nan` or element < 0", True),
        ("ValueError: cannot convert float NaN to integer", True),
        ("RuntimeError: normal expects all elements of std >= 0.0", True),
        ("KeyError: 'info'", False),
        ("FileNotFoundError: runs/nan/config.yaml", False),
    ],
)
def test_an_error_that_names_a_number_is_told_from_others(error: str, *, found: bool) -> None:
    """constructed: the last lines of logs."""
    run = replace(scene().run, status=RunStatus(Status.CRASHED, f"out.log:7: {error}"))
    assert (died_of_a_number.check(RunFacts(run)) is not None) is found
    assert died_of_a_number.check(RunFacts(replace(run, status=RunStatus(Status.FINISHED, error)))) is None


def test_a_stopped_run_says_how_much_of_its_budget_it_took() -> None:
    result = stopped_before_budget.check(recorded("gymnasium_solver/runs/local-20260115-104500"))
    assert result is not None
    assert "4,608 env steps of 20,480 were taken (22%)" in result.summary


def test_a_run_stopped_at_the_end_or_without_a_limit_is_not_short() -> None:
    """constructed: budgets of a known size."""
    stopped = {"status": Status.INTERRUPTED, "series": {"return/train": rising()}, "steps": 97_000}
    assert stopped_before_budget.check(scene(**stopped, budget=100_000)) is None
    assert stopped_before_budget.check(scene(**stopped, budget=1e16)) is None
    assert stopped_before_budget.check(scene(**stopped)) is None
    assert stopped_before_budget.check(scene(**stopped, budget=1_000_000)) is not None


def timed(speeds: np.ndarray, *, pause: float = 0.0) -> RunFacts:
    """A run whose every stretch of 1000 steps has its own speed, with one pause in seconds."""
    seconds = np.cumsum(1000.0 / speeds)
    seconds[speeds.size // 2 :] += pause
    steps = np.linspace(1000.0, 1000.0 * speeds.size, speeds.size)
    returns = Series("return/train", "r", steps, rising(points=speeds.size), wall_times=1.7e9 + seconds)
    return scene(series={"return/train": returns}, steps=float(steps[-1]))


def test_a_speed_that_falls_to_a_fifth_is_a_warning() -> None:
    """constructed: a leak takes hours to show."""
    result = throughput_falls.check(timed(np.geomspace(1000, 50, 60)))
    assert result is not None
    assert result.severity is Severity.WARNING
    assert throughput_falls.check(timed(np.linspace(1000, 700, 60))) is None


def test_a_pause_is_a_gap_and_no_loss_of_speed() -> None:
    """constructed: a machine that slept for an hour."""
    facts = timed(np.full(60, 1000.0), pause=3600.0)
    assert throughput_falls.check(facts) is None
    result = gaps_in_the_log.check(facts)
    assert result is not None
    assert "nothing was logged for 60 minutes" in result.summary
    assert gaps_in_the_log.check(timed(np.full(60, 1000.0), pause=120.0)) is None


def test_a_speed_since_the_start_is_turned_back_into_that_of_each_stretch() -> None:
    """constructed: after a fall to a third the mean since the start is still near its old value."""
    speeds = np.concatenate([np.full(50, 1200.0), np.full(14, 400.0)])
    seconds = np.cumsum(1000.0 / speeds)
    steps = np.linspace(1000.0, 64_000.0, 64)
    fps = Series("fps", "time/fps", steps, np.floor(steps / seconds), window="since the start")
    assert fps.values[-1] > 0.6 * fps.values[0]
    result = throughput_falls.check(scene(series={"fps": fps}))
    assert result is not None
    assert "(from time/fps)" in result.summary


def test_the_fast_warm_up_of_off_policy_runs_is_no_loss_of_speed() -> None:
    for name in ("sb3/dqn_cartpole", "sb3/sac_pendulum", "sb3/td3_pendulum", "cleanrl/dqn_cartpole/runs/*"):
        assert throughput_falls.check(recorded(name)) is None


def finished(hours: float, *, framework: str = "sb3-zoo", saved: bool = False) -> Run:
    """A finished run of some hours."""
    checkpoints = (Checkpoint("best_model.zip"),) if saved else ()
    return replace(scene(framework=framework).run, started_at=0.0, ended_at=3600.0 * hours, checkpoints=checkpoints)


def test_a_long_run_without_a_checkpoint_is_noted() -> None:
    """constructed: recorded runs take seconds."""
    assert nothing_saved.check(RunFacts(finished(2.0))) is not None
    assert nothing_saved.check(RunFacts(finished(0.2))) is None
    assert nothing_saved.check(RunFacts(finished(2.0, saved=True))) is None
    assert nothing_saved.check(RunFacts(finished(2.0, framework="cleanrl"))) is None


def test_warnings_are_counted_with_their_repeats() -> None:
    result = warnings_in_log.check(recorded("search_r1/grpo"))
    assert result is not None
    assert result.severity is Severity.INFO
    assert result.summary.startswith("10 warnings and errors in the log; train.log, line 24:")


def test_the_error_that_ended_a_run_is_not_a_warning_it_survived() -> None:
    assert recorded("sb3/ppo_cartpole_env_crash").run.logs
    assert warnings_in_log.check(recorded("sb3/ppo_cartpole_env_crash")) is None


def test_a_resume_that_the_reader_noticed_is_passed_on() -> None:
    """constructed: a log with steps that go back."""
    note = "steps go back in the log (a resumed run): up to 12 overwritten points per metric left out"
    run = replace(scene(series={"return/train": rising()}).run, provenance=Provenance("files", notes=(note,)))
    result = gaps_in_the_log.check(RunFacts(run))
    assert result is not None
    assert result.summary == note
    assert gaps_in_the_log.check(recorded("sb3/ppo_cartpole")) is None
