"""The algorithms of Stable-Baselines3 and sb3-contrib by their upper-case names."""

from __future__ import annotations

from typing import Any

from stable_baselines3 import A2C, DQN, PPO, SAC, TD3

ON_POLICY = frozenset({"PPO", "A2C", "TRPO"})
_OWN = {"PPO": PPO, "A2C": A2C, "DQN": DQN, "SAC": SAC, "TD3": TD3}


def algorithm_class(algorithm: str) -> Any:
    """The class that trains an algorithm."""
    if algorithm in _OWN:
        return _OWN[algorithm]
    import sb3_contrib

    return getattr(sb3_contrib, algorithm)
