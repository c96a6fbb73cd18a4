"""The root cause in words: the order of onsets, the class where ids cannot be told apart, and a suspected bug."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rlclinic.model.diagnosis import Cause, Diagnosis, MetricOnset, Suspect, Verdict
from rlclinic.model.run import Run
from rlclinic.reports.page import Facts, Words
from rlclinic.reports.root_cause import bug_blocks, root_cause_blocks

SUSPECT = Suspect(
    "advantage sign",
    "the policy is pushed away from what pays",
    ("IMP06",),
    "rlclinic probe sb3:PPO",
    "P5 advantage sign",
    (("gamma", "0.7"), ("ent_coef", "0")),
    ("stable_baselines3/ppo/ppo.py: PPO.train",),
)


def _cause(name: str, cause_class: str, probability: float, component: str | None = None) -> Cause:
    return Cause(name, cause_class, "root", f"meaning of {name}", probability, component=component)


def _diagnosis(
    *causes: Cause, classes: dict[str, float] | None = None, onsets: tuple[MetricOnset, ...] = ()
) -> Diagnosis:
    run = Run("run", "run", "sb3", algorithm="PPO")
    return Diagnosis(run, Verdict.COLLAPSED, "it fell", causes=causes, classes=classes or {}, onsets=onsets)


def _sentences(diagnosis: Diagnosis) -> str:
    return " ".join(str(block.text) for block in root_cause_blocks(diagnosis) if isinstance(block, Words))


def _onset(metric: str, step: float, change: float) -> MetricOnset:
    return MetricOnset(metric, f"log/{metric}", step, step - 1, step + 1, change)


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (
            ("value_loss", "return/train", "entropy"),
            "First to move: value_loss up at step 12,000, then return/train down at step 20,000, entropy down at step "
            "31,000. What moved after the return cannot have caused its fall.",
        ),
        (
            ("return/train", "entropy"),
            "First to move: return/train down at step 12,000, then entropy down at step 20,000. Nothing that is logged "
            "moved before the return.",
        ),
    ],
)
def test_what_moved_first_is_told(order: tuple[str, ...], told: str) -> None:
    steps = (12_000.0, 20_000.0, 31_000.0)
    onsets = tuple(
        _onset(name, step, 1.0 if name == "value_loss" else -1.0) for name, step in zip(order, steps, strict=False)
    )
    assert told in _sentences(_diagnosis(_cause("a", "x", 0.6), onsets=onsets))


def test_causes_of_one_class_that_cannot_be_told_apart_are_answered_by_their_class() -> None:
    causes = (_cause("a", "policy-too-fast", 0.3), _cause("b", "policy-too-fast", 0.25), _cause("c", "credit", 0.1))
    told = _sentences(_diagnosis(*causes, classes={"policy-too-fast": 0.58, "credit": 0.1}))
    assert "The class policy-too-fast is clearer, with 58%: its members (a, b) cannot be told apart" in told


def test_a_cause_that_stands_out_needs_no_class() -> None:
    causes = (_cause("a", "policy-too-fast", 0.7), _cause("b", "policy-too-fast", 0.1))
    assert "is clearer" not in _sentences(_diagnosis(*causes, classes={"policy-too-fast": 0.85}))


def test_an_unknown_cause_may_still_have_a_likely_class() -> None:
    causes = (_cause("unknown", "unknown", 0.2), _cause("a", "no-signal", 0.15), _cause("b", "no-signal", 0.14))
    told = _sentences(_diagnosis(*causes, classes={"unknown": 0.2, "no-signal": 0.4}))
    assert "The class no-signal is clearer, with 40%" in told


def test_a_suspected_bug_says_what_to_run_with_which_config_and_where_to_look() -> None:
    diagnosis = _diagnosis(_cause("implementation-bug", "implementation", 0.5, "advantage sign"))
    (facts,) = [block for block in bug_blocks(replace(diagnosis, suspect=SUSPECT)) if isinstance(block, Facts)]
    rows = dict(facts.rows)
    assert rows["component"] == "advantage sign"
    assert rows["reproduce"] == "rlclinic probe sb3:PPO"
    assert rows["smallest config"] == "gamma=0.7, ent_coef=0"
    assert rows["look at"] == "stable_baselines3/ppo/ppo.py: PPO.train"


def test_a_component_without_a_cause_is_not_shown() -> None:
    assert bug_blocks(replace(_diagnosis(_cause("a", "x", 0.6)), suspect=SUSPECT)) == []
