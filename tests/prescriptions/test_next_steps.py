"""What comes after the diagnosis: variations of the change, and what to monitor."""

from __future__ import annotations

from rlclinic.prescriptions.next_steps import next_steps, variations
from tests.prescriptions.made import PPO, advised, made_run

RUN = made_run({**PPO, "learning_rate": 0.05})


def test_values_to_either_side_of_the_change_are_variations_to_try() -> None:
    made = advised(RUN, {"learning-rate-too-high": 0.9}, "kl-too-large")
    assert "learning_rate 0.00033 and 0.003" in variations(made[0])
    assert any(line.startswith("Variations to try") for line in next_steps(RUN, made))


def test_a_check_has_no_variations() -> None:
    made, *_ = advised(made_run(PPO), {"unknown": 0.7})
    assert variations(made) == ""
