"""What the log tells of a setting exonerates as well as it accuses."""

from __future__ import annotations

import numpy as np
import pytest

from rlclinic.causes.posterior import causes_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.update_count import logged_updates
from rlclinic.model.diagnosis import Verdict
from rlclinic.rules.registry import RULES
from tests.rules.scene import POINTS, scene

ALL = frozenset(rule.name for rule in RULES)
CAUSE = "learning-rate-too-low"


def run(rate: float) -> RunFacts:
    rates = np.full(POINTS, rate)
    return scene(environment="CartPole-v1", series={"return/train": np.full(POINTS, 22.0), "learning_rate": rates})


def told(facts: RunFacts) -> list[str]:
    pieces = causes_of(facts, Verdict.NOT_LEARNING, [], ALL).explanations[CAUSE].pieces
    return [piece.text for piece in pieces if "as logged" in piece.text and piece.value < 0.0]


def test_an_ordinary_rate_that_is_logged_speaks_against_one_that_is_too_low() -> None:
    assert told(run(1e-3)) == ["learning_rate 0.001, as logged, is ordinary"]


def test_a_tiny_rate_that_is_logged_does_not() -> None:
    assert told(run(1e-8)) == []


@pytest.mark.parametrize(("config", "updates"), [({}, None), ({"n_minibatches": 8}, 8 * 10.0 * POINTS)])
def test_passes_are_turned_into_updates_only_with_a_known_count_of_minibatches(
    config: dict[str, object], updates: float | None
) -> None:
    counted = 10.0 * np.arange(1, POINTS + 1)
    facts = scene(series={"return/train": np.full(POINTS, 22.0), "updates": counted}, config=config)
    assert logged_updates(facts) == updates
