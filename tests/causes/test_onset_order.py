"""The order of onsets around a fall of the return. Constructed: the true order is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlclinic.judgement.decision_path import decision_path
from rlclinic.judgement.onset_order import onset_order
from rlclinic.model.finding import Finding, Severity
from rlclinic.model.series import FloatArray
from rlclinic.rules.registry import RULES, examine
from tests.rules.scene import scene

POINTS = 120
BY_NAME = {row.name: row for row in RULES}


def _jump(at: int, before: float, after: float, seed: int) -> FloatArray:
    values = np.full(POINTS, before)
    values[at:] = after
    scatter: FloatArray = np.random.default_rng(seed).normal(0.0, 0.03 * max(before, after), POINTS)
    return values + scatter


def _climb_and_fall() -> FloatArray:
    curve = np.concatenate([np.linspace(20.0, 200.0, 40), np.full(40, 200.0), np.full(40, 20.0)])
    return curve + np.random.default_rng(3).normal(0.0, 3.0, POINTS)


def _finding(name: str, onset: float | None) -> Finding:
    row = BY_NAME[name]
    return Finding(row.code, row.title, row.family, Severity.WARNING, 0.8, f"{name} seen", (), onset, name)


def test_the_metric_that_moved_first_is_told_first() -> None:
    series = {
        "return/train": _climb_and_fall(),
        "value_loss": _jump(60, 1.0, 9.0, 1),
        "entropy": _jump(100, 0.6, 0.1, 2),
    }
    facts = scene(series=series, steps=120_000.0)
    findings, _ = examine(facts)
    onsets = onset_order(facts, findings).onsets
    assert [onset.metric for onset in onsets] == ["value_loss", "return/train", "entropy"]
    assert abs(onsets[0].step - 61_000) <= 2_000
    assert onsets[0].change > 0 > onsets[1].change


def test_a_return_that_did_not_fall_has_no_order() -> None:
    rising = np.linspace(20.0, 200.0, POINTS)
    facts = scene(series={"return/train": rising, "value_loss": _jump(60, 1.0, 9.0, 1)})
    findings, _ = examine(facts)
    assert onset_order(facts, findings).onsets == ()


def test_a_finding_that_began_after_the_fall_is_not_where_to_begin() -> None:
    facts = scene(series={"return/train": _climb_and_fall(), "value_loss": _jump(60, 1.0, 9.0, 1)}, steps=120_000.0)
    fell, _ = examine(facts, (BY_NAME["return-collapse"],))
    seen = [*fell, _finding("entropy-fell-early", 110_000.0), _finding("kl-too-large", 50_000.0)]
    order = onset_order(facts, seen)
    assert order.after_the_fall == {"POL01"}
    path = decision_path(seen, frozenset(BY_NAME), order.after_the_fall)
    explore = next(line for line in path if line.startswith("Does the policy still explore?"))
    pace = next(line for line in path if line.startswith("Does the policy move at a sane pace?"))
    assert explore.endswith("It began after the return had fallen.")
    assert pace.endswith("Begin here.")


def test_without_an_order_the_first_step_that_fails_is_where_to_begin() -> None:
    path = decision_path([_finding("entropy-fell-early", None), _finding("kl-too-large", None)], frozenset(BY_NAME))
    assert [line.split("?")[0] for line in path if line.endswith("Begin here.")] == ["Does the policy still explore"]


def test_what_speaks_for_the_leading_cause_is_where_to_begin() -> None:
    seen = [_finding("entropy-fell-early", None), _finding("kl-too-large", None)]
    path = decision_path(seen, frozenset(BY_NAME), leading=frozenset({"POL04"}))
    (begin,) = [line for line in path if line.endswith("Begin here.")]
    assert "(POL04)" in begin


def test_an_error_is_where_to_begin_rather_than_a_warning_above_it() -> None:
    grave = replace(_finding("kl-too-large", None), severity=Severity.ERROR)
    path = decision_path([grave, _finding("entropy-fell-early", None)], frozenset(BY_NAME))
    (begin,) = [line for line in path if line.endswith("Begin here.")]
    assert "(POL04)" in begin


def test_a_step_whose_rules_noted_something_does_not_say_that_nothing_was_found() -> None:
    noted = replace(_finding("kl-too-large", None), severity=Severity.INFO)
    path = decision_path([noted], frozenset(BY_NAME))
    assert sum(line.endswith("checks found nothing serious; see POL04.") for line in path) == 1
