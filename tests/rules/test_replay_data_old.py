"""replay-data-old. Constructed: a run with millions of updates is too long for a fixture."""

from __future__ import annotations

import numpy as np

from rlclinic.rules.off_policy import replay_data_old
from tests.rules.scene import POINTS, flat, line, recorded, scene

CONFIG = {"buffer_size": 1_000_000, "train_freq": 1, "gradient_steps": 4, "learning_rate": 3e-4}
LOSS = np.geomspace(10.0, 0.1, POINTS)


def test_a_flat_return_over_a_critic_that_fits_old_data_is_named() -> None:
    series = {"value_loss": LOSS, "return/train": flat(20.0)}
    found = replay_data_old.check(scene(algorithm="SAC", series=series, config=CONFIG, steps=2e6))
    assert found is not None
    assert "is 2,000,000 gradient steps old" in found.summary


def test_young_data_a_return_that_rises_and_a_critic_that_does_not_fit_are_fine() -> None:
    flat_run = {"value_loss": LOSS, "return/train": flat(20.0)}
    small = {**CONFIG, "buffer_size": 10_000}
    for series, config in (
        (flat_run, small),
        ({**flat_run, "return/train": line(20, 200)}, CONFIG),
        ({**flat_run, "value_loss": flat(1.0)}, CONFIG),
    ):
        assert replay_data_old.check(scene(algorithm="SAC", series=series, config=config, steps=2e6)) is None
    assert replay_data_old.check(recorded("sb3/sac_pendulum")) is None


def test_a_lag_that_grows_while_the_return_stays_is_named() -> None:
    lag = np.geomspace(1.0, 60.0, POINTS)
    assert replay_data_old.check(scene(series={"policy_lag": lag, "return/train": flat(20.0)})) is not None
    assert replay_data_old.check(scene(series={"policy_lag": flat(4.0), "return/train": flat(20.0)})) is None
