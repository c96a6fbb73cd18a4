"""Exploration where there is none, in the way of the algorithm."""

from __future__ import annotations

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.computed.entropy_bonus import larger_entropy_bonus
from rlclinic.prescriptions.computed.epsilon import longer_exploration
from rlclinic.prescriptions.computed.temperature import learned_temperature
from rlclinic.prescriptions.turn import Turn

# Standard deviation of action noise on actions in [-1, 1]: Fujimoto et al. 2018 and the zoo's TD3 entries.
NOISE = 0.1
# Frameworks in which the noise is one number of the config.
NOISE_IS_A_NUMBER = frozenset({"cleanrl", "tianshou"})


def some_exploration(case: Case) -> tuple[Turn, ...]:
    """Epsilon for Q-learning, noise for deterministic policies, a bonus or a learned temperature for the others."""
    if "q-learning" in case.families:
        return longer_exploration(case)
    if case.run.algorithm in ("TD3", "DDPG"):
        noise = case.number("action_noise")
        return (Turn("action_noise", NOISE),) if case.run.framework in NOISE_IS_A_NUMBER and not noise else ()
    if "continuous-q" in case.families:
        return learned_temperature(case)
    return larger_entropy_bonus(case) if case.is_on_policy else ()
