"""How a run ended, where its clues and its steps disagree."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from rlclinic.model.run import Status
from rlclinic.readers.draft import SEEN, TOLD, Draft
from rlclinic.readers.open import read
from rlclinic.readers.place import scan
from rlclinic.readers.status import log_clues, status_of


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    (tmp_path / "log.txt").write_text("")
    return Draft(scan(tmp_path))


@pytest.mark.parametrize("state", [Status.CRASHED, Status.INTERRUPTED, Status.RUNNING])
def test_a_run_that_took_its_budget_is_finished_whatever_a_tracker_says(draft: Draft, state: Status) -> None:
    draft.clue(state, "meta.yaml: status FAILED", TOLD)
    found = status_of(draft, 1000.0, 1000.0, None)
    assert found.state is Status.FINISHED
    assert "meta.yaml: status FAILED" in found.reason


def test_a_run_that_died_before_its_budget_is_dead(draft: Draft) -> None:
    draft.clue(Status.CRASHED, "run.log:7: ValueError", SEEN)
    assert status_of(draft, 500.0, 1000.0, None).state is Status.CRASHED


def test_one_row_that_was_copied_out_of_a_log_tells_no_end(draft: Draft) -> None:
    assert status_of(draft, 20.0, 1000.0, None, rows=1).state is Status.UNKNOWN
    assert status_of(draft, 20.0, 1000.0, None, rows=2).state is Status.INTERRUPTED


def test_steps_after_the_recorded_end_set_a_failure_aside(draft: Draft) -> None:
    draft.ended_at = 1_700_000_000.0
    draft.clue(Status.CRASHED, "meta.yaml: status FAILED", TOLD)
    assert status_of(draft, 500.0, None, draft.ended_at + 1.0).state is Status.CRASHED
    assert status_of(draft, 500.0, None, draft.ended_at + 86_400.0).state is Status.UNKNOWN


@pytest.mark.parametrize(("ago", "state"), [(5.0, Status.RUNNING), (120.0, Status.UNKNOWN)])
def test_a_log_whose_rows_came_every_second_has_ended_when_it_is_silent_for_minutes(
    ago: float, state: Status, runs: Path, tmp_path: Path
) -> None:
    shutil.copy(runs / "faults" / "healthy_dqn_cartpole" / "progress.csv", tmp_path)
    (tmp_path / "train.log").write_text("begun\n")
    for name, before in (("progress.csv", 0.0), ("train.log", 10.0)):
        os.utime(tmp_path / name, (time.time() - ago - before,) * 2)
    assert read(tmp_path).status.state is state


@pytest.mark.parametrize(
    ("last", "state"),
    [
        ("{'train_runtime': 61.5, 'epoch': 0.1}", Status.FINISHED),
        ("Training complete! Model saved to dqn.pth", Status.FINISHED),
        ("Training on cuda", Status.INTERRUPTED),
    ],
)
def test_the_last_words_of_a_log_say_that_training_is_through(draft: Draft, last: str, state: Status) -> None:
    log_clues(draft, ["Episode 1 reward 2.0", last], "train.log")
    assert status_of(draft, 100.0, 1000.0, None).state is state


TRACEBACK = ["Traceback (most recent call last):", '  File "a.py", line 1, in <module>', "ImportError: no notf"]


def test_an_exception_that_rows_of_metrics_follow_was_survived(draft: Draft) -> None:
    lines = [*TRACEBACK, *(f"Episode {at} reward 2.0" for at in range(5))]
    log_clues(draft, lines, "train.log", rows=range(4, 9))
    assert status_of(draft, 100.0, 1000.0, None).state is Status.INTERRUPTED
    log_clues(draft, lines, "train.log", rows=(4,))
    assert status_of(draft, 100.0, 1000.0, None).state is Status.CRASHED


def test_a_program_that_says_that_it_failed_has_crashed_unless_it_went_on(draft: Draft) -> None:
    lines = ["Episode 1 reward 2.0", "2025-06-24 - ERROR - Training failed with error:", "no such module"]
    log_clues(draft, lines, "train.log", rows=(3,))
    assert status_of(draft, 100.0, 1000.0, None).state is Status.INTERRUPTED
    log_clues(draft, lines, "train.log", rows=(1,))
    assert status_of(draft, 100.0, 1000.0, None).state is Status.CRASHED


def test_a_last_line_at_level_error_is_a_crash(draft: Draft) -> None:
    log_clues(
        draft, ["... - INFO - start", "2025-07-04 - __main__ - ERROR - 'Loader' has no attribute 'load'"], "a.log"
    )
    assert status_of(draft, 0.0, None, None).state is Status.CRASHED


def test_an_error_that_is_a_metric_is_no_crash(draft: Draft) -> None:
    log_clues(draft, ["Episode 1 reward 2.0", "TD ERROR_RATE 0.1, error: 0.3"], "a.log")
    assert status_of(draft, 10.0, None, None).state is Status.UNKNOWN
