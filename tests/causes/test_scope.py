"""Which causes are in question at all, what counts in part, and when `unknown` gains."""

from __future__ import annotations

import numpy as np

from rlclinic.causes.catalogue import OF_CONTROL, catalogue
from rlclinic.causes.posterior import causes_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.diagnosis import Verdict
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.run import Run
from rlclinic.rules.registry import RULES, applicable
from tests.rules.scene import scene

ALL = frozenset(row.name for row in RULES)
BY_NAME = {row.name: row for row in RULES}


def _run(algorithm: str, environment: str = "CartPole-v1") -> Run:
    return Run("run", "run", algorithm=algorithm, environment=environment)


def _about(run: Run) -> frozenset[str]:
    return frozenset(row.name for row in applicable(RunFacts(run)))


def _finding(name: str) -> Finding:
    row = BY_NAME[name]
    return Finding(row.code, row.title, row.family, Severity.WARNING, 0.9, "seen", name=name)


def _classes(algorithm: str) -> dict[str, float]:
    run = _run(algorithm)
    return causes_of(RunFacts(run), Verdict.NOT_LEARNING, [], _about(run), applicable=_about(run)).classes


def test_causes_of_other_algorithms_are_out_of_the_question() -> None:
    assert "language-model" not in _classes("PPO")
    assert "language-model" in _classes("GRPO")
    assert _classes("DQN")["q-divergence"] > 5 * _classes("PPO").get("q-divergence", 0.0)


def test_what_recorded_steps_lack_is_asked_only_of_a_run_that_learns_from_them() -> None:
    assert "offline" not in _classes("DQN")
    assert "offline" in _classes("CQL")


def test_only_algorithms_with_a_temperature_are_suspected_of_a_wrong_one() -> None:
    def suspected(algorithm: str) -> bool:
        run = _run(algorithm)
        found = causes_of(RunFacts(run), Verdict.NOT_LEARNING, [], _about(run), applicable=_about(run))
        return "temperature-wrong" in found.explanations

    assert [suspected(algorithm) for algorithm in ("SAC", "DISCRETESAC", "DQN", "PPO")] == [True, True, False, False]


def test_a_plateau_after_a_small_climb_without_a_goal_is_no_ground_for_health() -> None:
    def leads(end: float) -> str:
        climb = np.concatenate([np.linspace(100.0, end, 20), np.full(60, end)])
        values = climb + np.random.default_rng(0).normal(0.0, 0.5, 80)
        facts = scene(series={"return/train": values}, algorithm="", framework="")
        return causes_of(facts, Verdict.PLATEAUED, [], ALL, applicable=_about(facts.run)).causes[0].id

    assert leads(110.0) == "unknown"
    assert leads(300.0) == "nothing-wrong"


def test_all_causes_together_still_have_probability_one() -> None:
    for algorithm in ("PPO", "DQN", "GRPO", ""):
        assert abs(sum(_classes(algorithm).values()) - 1.0) < 1e-9


def test_what_began_after_the_fall_counts_in_part() -> None:
    findings = [_finding("entropy-fell-early")]
    run = _run("PPO")

    def share(late: frozenset[str]) -> float:
        causes = causes_of(RunFacts(run), Verdict.COLLAPSED, findings, ALL, after_the_fall=late).causes
        return next((cause.probability for cause in causes if cause.id == "entropy-bonus-too-low"), 0.0)

    assert share(frozenset({"POL01"})) < 0.7 * share(frozenset())


def test_a_run_unlike_those_the_table_was_made_for_is_more_likely_unknown_and_says_why() -> None:
    def unknown(run: Run, checked: frozenset[str]) -> tuple[float, tuple[str, ...]]:
        found = causes_of(RunFacts(run), Verdict.PLATEAUED, [], checked, applicable=_about(run)).explanations["unknown"]
        return found.probability, tuple(piece.text for piece in found.evidence)

    known, _ = unknown(_run("PPO"), ALL)
    far, reasons = unknown(_run("", "MyRobot-v0"), frozenset({"not-a-number"}))
    assert far > known
    assert "the algorithm is not a known one" in reasons
    assert "the environment is not a known one" in reasons
    assert any("of the checks lack their metrics" in reason for reason in reasons)


def test_a_fall_after_the_task_was_made_harder_is_blamed_on_the_task() -> None:
    run = _run("PPO")
    fell = [_finding("return-collapse")]
    harder = [*fell, _finding("difficulty-raised")]
    leaders = [causes_of(RunFacts(run), Verdict.COLLAPSED, found, ALL).causes[0].id for found in (fell, harder)]
    assert leaders == ["unknown", "nonstationary-task"]


def test_a_cause_may_show_itself_by_another_sign_than_the_expected_one() -> None:
    run = _run("PPO")
    causes = causes_of(RunFacts(run), Verdict.NOT_LEARNING, [_finding("entropy-rises")], ALL).causes
    found = next(cause for cause in causes if cause.id == "entropy-bonus-too-high")
    assert "no entropy-stays-maximal" not in found.contradicts


def test_a_language_model_is_not_suspected_of_what_only_control_has() -> None:
    run = _run("GRPO", "")
    found = causes_of(RunFacts(run), Verdict.NOT_LEARNING, [], _about(run), applicable=_about(run)).explanations
    assert "unknown" in found
    assert OF_CONTROL.isdisjoint(found)
    assert catalogue().keys() >= OF_CONTROL
