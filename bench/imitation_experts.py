"""Rules of thumb that solve small tasks: the experts of bench.imitation and bench.imitation_peer."""

from __future__ import annotations

from typing import Any

import numpy as np


def balance(observation: Any) -> int:
    """CartPole: push towards where the pole leans; 500 in every episode."""
    position, speed, angle, turn = observation
    return int(0.1 * position + 0.3 * speed + 3.0 * angle + turn > 0)


def pump(observation: Any) -> int:
    """Acrobot: torque in the direction in which the lower link turns; about -80, rarely a whole episode."""
    return int(np.sign(observation[5])) + 1


def swing_up(observation: Any) -> list[float]:
    """Pendulum: bring the energy to that of the upright pole, then hold it; about -140."""
    cosine, sine, speed = (float(value) for value in observation)
    if cosine > 0.85:
        torque = -12.0 * float(np.arctan2(sine, cosine)) - 3.0 * speed
    else:
        lacks_energy = speed * speed / 6.0 + 5.0 * (cosine - 1.0) < 0.0
        torque = 2.0 if (speed >= 0.0) == lacks_energy else -2.0
    return [float(np.clip(torque, -2.0, 2.0))]
