"""Changes of a run that must not matter to its verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench.corpus import answer_of, known_of
from bench.perturb import TRANSFORMATIONS, Transformation, report

from rlclinic.model.run import Run
from tests.rules.scene import flat, rising, scene

LABEL = {"path": "constructed", "verdict": ["learning"], "causes": [], "confidence": "high"}
CHANGES = {item.name: item for item in TRANSFORMATIONS}


def _run() -> Run:
    series = {"return/train": rising(10.0, 90.0, 60), "entropy": flat(0.6, 60), "episode_length": flat(40.0, 60)}
    return scene(series=series, config={"learning_rate": 3e-4}, environment="MyMaze-v0").run


@pytest.mark.parametrize(
    "item",
    [item for item in TRANSFORMATIONS if "eval" not in item.name and "costs" not in item.name],
    ids=lambda item: item.name,
)
def test_a_clear_rise_survives_every_change(item: Transformation) -> None:
    run = _run()
    changed = item.change(run)
    assert changed is not None
    assert answer_of(changed, known_of(LABEL)).verdict == "learning"


def test_a_change_that_cannot_be_made_is_left_out() -> None:
    run = _run()
    assert CHANGES["evaluations alone"].change(run) is None
    assert CHANGES["without environment"].change(replace(run, environment="")) is None


def test_costs_are_written_of_a_return_that_is_never_above_zero() -> None:
    run = _run()
    assert CHANGES["written as costs"].change(run) is None
    returns = run.series["return/train"]
    costly = replace(run, series={**run.series, "return/train": replace(returns, values=returns.values - 100.0)})
    again = CHANGES["written as costs"].change(costly)
    assert again is not None
    assert answer_of(again, known_of(LABEL)).verdict == "learning"


def test_a_verdict_that_becomes_unacceptable_is_counted_and_named() -> None:
    run, known = _run(), known_of(LABEL)
    upside_down = Transformation("upside down", lambda run: replace(run, series={**run.series, "return/train": replace(
        run.series["return/train"], values=-run.series["return/train"].values)}))  # fmt: skip
    line, flip = report(upside_down, [(run, known)], [answer_of(run, known)], flips=True).splitlines()
    assert line.split()[3:6] == ["1", "0", "1"]
    assert "learning ->" in flip


def test_steps_become_rows_of_one_table() -> None:
    changed = CHANGES["rows for steps"].change(_run())
    assert changed is not None
    assert np.array_equal(changed.series["return/train"].steps, changed.series["entropy"].steps)
    assert changed.step_axis == "rows"
