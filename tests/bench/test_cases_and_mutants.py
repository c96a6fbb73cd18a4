"""Cases of the ladder that one kind of bug was the reason for: the reference trainer passes, the bug shows."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from bench.mutants.plant import Planted

from tests.probes.one_seed import one_seed

REASONS = [
    ("S0g.vector", "ppo", "vector-steps-counted", {"logged steps": 0.5}),
    ("P5.clip", "ppo", "fix-old-log-prob-after-update", {"move of pi(best|1)": 0.47}),
    ("P6.usual", "ppo", "value-clipped-around-zero", {"pi(match|+1)": 1.0}),
    ("P6.usual", "ppo", "advantages-normalised-per-row", {"pi(match|+1)": 0.5, "pi(match|-1)": 0.5}),
    ("P8.both", "dqn", "fix-termination-at-the-limit", {"V(A)": 3.33}),
    ("P10.limit", "ppo", "fix-terminal-observation-raw", {"V(5)": 1.37, "V(1)": 1.96}),
    ("P10.evaluation", "ppo", "fix-evaluation-updates-statistics", {}),
    ("P11.normalised", "ppo", "normalised-returns-logged", {"logged": 2.0, "V(0)": 0.7}),
    ("P12.edge", "sac", "fix-tanh-of-mean", {"a": 5.285}),
    ("P16.frames", "ppo", "frames-not-cleared", {"V(second)": 1.87}),
    ("P16.frames", "ppo", "fix-terminal-frames", {"V(first)": 1.37, "V(second)": 1.96}),
]


@pytest.mark.parametrize(("case", "trainer"), sorted({(case, trainer) for case, trainer, _, _ in REASONS}))
def test_a_right_trainer_passes(case: str, trainer: str) -> None:
    found = one_seed(Planted(trainer), case)
    assert (found.error, found.passed) == (None, True), found


@pytest.mark.parametrize(("case", "trainer", "mutant", "readings"), REASONS)
def test_a_bug_leads_to_its_wrong_answer(case: str, trainer: str, mutant: str, readings: dict[str, float]) -> None:
    found = one_seed(Planted(trainer, mutant), case)
    assert (found.error, found.passed) == (None, False), found
    for name, value in readings.items():
        assert found.readings[name] == pytest.approx(value, abs=0.12), name
