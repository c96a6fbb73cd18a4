"""Whole probings of a tabular trainer, of SB3, and of trainers that misbehave."""

from __future__ import annotations

from typing import Any

import pytest

from rlclinic.model.errors import UsageError
from rlclinic.probes import assert_probes, probe
from rlclinic.probes.ladder import chosen_probes
from rlclinic.probes.result import CaseResult, ProbeReport
from rlclinic.probes.run import run_probes
from rlclinic.probes.words import report_lines
from tests.probes import misbehaving
from tests.probes.tabular import Factory

VALUES = ("P1", "P2", "P3", "P4", "P5", "P6", "P8", "S0b", "S0g")


def here(trainer: Any, *names: str, preflight: bool = True) -> ProbeReport:
    return probe(trainer, *(names or VALUES), preflight=preflight, processes=0)


def case(report: ProbeReport, code: str) -> CaseResult:
    return next(result for result in report.results if result.code == code and result.verdict != "skipped")


def test_a_right_trainer_passes_everything_that_applies() -> None:
    report = here(Factory(), *VALUES, "P9.stay")
    assert [result for result in report.results if result.verdict not in ("pass", "skipped")] == []
    assert {result.code for result in report.judged} == {*VALUES, "P9"}
    assert report.problems == ()
    skipped = {(result.code, result.case): result.reason for result in report.results if result.verdict == "skipped"}
    assert skipped["P5", "line"] == "the trainer has no box actions"


@pytest.mark.parametrize(
    ("fault", "component", "names"),
    [
        ("discount", "gamma", ("P3", "P1")),
        ("done", "done mask", ("P1", "P8")),
        ("flags", "flag order", ("P8", "P1")),
        ("time-limit", "time-limit bootstrapping", ("P8", "P1")),
        ("lambda", "lambda plumbing", ("P4", "P3", "S0b")),
        ("sign", "advantage sign", ("P5", "P6")),
        ("actor", "actor update", ("P5", "P1")),
        ("critic", "value loss", ("P1", "P2")),
    ],
)
def test_a_broken_component_is_found_and_named(fault: str, component: str, names: tuple[str, ...]) -> None:
    report = here(Factory(fault), *names)
    assert case(report, names[0]).verdict == "fail"
    assert report.suspicions[0].component == component, report.suspicions


def test_a_failure_is_followed_up_until_nothing_more_is_asked() -> None:
    alone = probe(Factory("flags"), "P1", preflight=True, processes=0)
    assert alone.separating
    followed = probe(Factory("flags"), "P1", preflight=True, locate=True, processes=0)
    assert len(followed.results) > len(alone.results)
    assert (followed.suspicions[0].component, followed.separating) == ("flag order", "")
    assert len(probe(Factory(), "P1", preflight=True, locate=True, processes=0).results) == 1


def test_assert_probes_says_what_is_suspected() -> None:
    with pytest.raises(AssertionError, match=r"advantage sign") as caught:
        assert_probes(Factory("sign"), "P1", "P5", processes=0)
    assert "P5" in str(caught.value)
    assert assert_probes(Factory(), "P1", processes=0).judged


def test_a_full_verdict_takes_five_seeds_that_agree() -> None:
    report = here(Factory(), "P1", preflight=False)
    assert len(case(report, "P1").seeds) == 5


@pytest.mark.parametrize(
    ("trainer", "message"),
    [
        (misbehaving.raises, "raised at step 192: RuntimeError: loss became nan"),
        (misbehaving.wrong_shape, "wrong-shape: value(obs) returned 3 numbers instead of one"),
        (misbehaving.changes_spaces, "the trainer changed the environment's spaces"),
        (misbehaving.never_resets, "steps came after the end of an episode, without reset"),
        (misbehaving.no_trainer, "make_trainer returned a object without train() and act()"),
    ],
)
def test_misbehaviour_is_reported_as_such_and_not_as_a_failure(trainer: Any, message: str) -> None:
    report = here(trainer, "P1", "P3")
    assert not report.failed
    assert {result.verdict for result in report.results} == {"not-judged"}
    assert message in report.results[0].reason
    with pytest.raises(AssertionError, match="could be judged"):
        assert_probes(trainer, "P1", processes=0)


def test_a_trainer_that_ignores_its_seed_is_told_so() -> None:
    # What happens by chance in P2 differs from seed to seed whatever the trainer does.
    assert "ignores its seed" in here(Factory("seed"), "P1", "P2", "P3").problems[0]
    assert here(Factory(), "P1", "P2", "P3").problems == ()


def test_a_factory_that_cannot_travel_runs_here_and_the_report_says_so() -> None:
    def local(env_fn: Any, **settings: Any) -> Any:
        return Factory()(env_fn, **settings)

    report = probe(local, "S0b")
    assert [result.verdict for result in report.results] == ["pass"]
    assert any("cannot be sent to another process" in problem for problem in report.problems)
    assert probe(Factory(), "S0b", processes=0).problems == ()


def test_a_preflight_says_what_it_leaves_out() -> None:
    text = "\n".join(report_lines(here(Factory(), "P1", "S0b")))
    assert "stops at 2 right seeds" in text
    assert "Not looked at: old log-prob (S0a)" in text
    assert "(P16)" in text
    assert "P1 constant-value" not in text
    assert "left out" not in "\n".join(report_lines(here(Factory(), "S0b", preflight=False)))


def test_gamma_must_be_a_discount() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        run_probes(Factory(), chosen_probes(("P1",)), gamma=1.0, processes=0)


def test_a_gamma_that_hides_the_answer_is_not_judged() -> None:
    report = probe(Factory(), "P3", gamma=0.99, processes=0)
    assert case(report, "P3").verdict == "not-judged"
    assert "gamma 0.99" in case(report, "P3").reason


def test_a_trainer_that_hangs_or_dies_costs_its_seeds_only() -> None:
    report = run_probes(misbehaving.hangs, chosen_probes(("P1", "S0b")), preflight=True, stall_seconds=1.0)
    assert case(report, "P1").verdict == "not-judged"
    assert "hung" in case(report, "P1").reason
    assert case(report, "S0b").verdict == "pass"
    report = run_probes(misbehaving.dies, chosen_probes(("P1", "S0b")), preflight=True)
    assert "exit code 7" in case(report, "P1").reason
    assert case(report, "S0b").verdict == "pass"
