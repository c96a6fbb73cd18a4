"""What is said of runs that learn from an expert's labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlclinic.facts.goal import reference_steps
from rlclinic.facts.run_facts import RunFacts
from rlclinic.rules.data import few_updates_in_budget
from rlclinic.rules.imitation import labels_ran_out, neighbours_labelled_otherwise
from rlclinic.rules.success import below_goal
from tests.rules.scene import fault, scene

ROUNDS = 8
# Labels of a gate after each round of 200 steps: it asks for nothing once the first round is over.
SILENT = [200.0] * ROUNDS


def _gated(returns: float, queries: list[float], **measured: float) -> RunFacts:
    own = {name: np.full(ROUNDS, value) for name, value in measured.items()}
    series: dict[str, Any] = {f"imitation/{name}": values for name, values in own.items()}
    series |= {"return/eval": np.full(ROUNDS, returns), "imitation/queries": queries}
    return scene(
        algorithm="SAFE-DAGGER", framework="rlclinic", environment="Pendulum-v1", steps=1600.0, budget=1600.0,
        threshold=-250.0, series=series, config={"n_steps": 200, "batch_size": 64},
    )  # fmt: skip


def test_a_gate_that_asks_for_nothing_below_the_goal_has_too_few_labels_even_where_it_agrees() -> None:
    """Stuck where the pendulum hangs, an imitator does what the expert would do there."""
    found = labels_ran_out.check(_gated(-900.0, SILENT, disagreement=0.01))
    assert found is not None
    assert "0% of the steps of its second half" in found.summary


def test_a_gate_may_be_silent_at_the_goal_and_below_it_while_it_still_asks() -> None:
    assert labels_ran_out.check(_gated(-150.0, SILENT, disagreement=0.01)) is None
    asking = list(np.linspace(200.0, 340.0, ROUNDS))
    assert labels_ran_out.check(_gated(-900.0, asking, disagreement=0.01)) is None


def test_labels_that_are_predicted_when_held_out_can_be_imitated() -> None:
    """A gate asks near the border at which an expert's choice jumps: neighbours are labelled otherwise there."""
    words = {"label_spread": 0.56, "inconsistency": 0.0}
    assert neighbours_labelled_otherwise.check(_gated(-900.0, SILENT, **words, disagreement_data=0.4)) is not None
    assert neighbours_labelled_otherwise.check(_gated(-900.0, SILENT, **words, disagreement_data=0.0)) is None


def test_env_steps_of_published_runs_and_updates_of_a_config_say_nothing_of_imitation() -> None:
    for facts in (fault("cloned_bc_pendulum"), _gated(-900.0, SILENT)):
        assert reference_steps(facts) is None
        told = below_goal.check(facts)
        assert told is not None
        assert "published" not in told.summary
        assert few_updates_in_budget.check(facts) is None
