"""Environments as people write them, and odd wrappers of known ones: written before their checks were read again.

Labels and environments were committed before the first examination; the page tells what that one found.
"""

from __future__ import annotations

import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium import wrappers

from bench.environments import worlds
from bench.environments.case import Case
from bench.environments.fresh import Told, _minigrid, _parallel
from bench.environments.healthy import adapted
from bench.environments.unseen import Ends, Luck, Reward, Seen, _gym


class Skips(gymnasium.Wrapper):  # type: ignore[misc]
    """Each action is done four times."""

    def step(self, action: Any) -> Any:
        total = 0.0
        for _ in range(4):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info


class Aborts(gymnasium.Wrapper):  # type: ignore[misc]
    """The simulator takes the whole process with it."""

    def step(self, action: Any) -> Any:
        found = self.env.step(action)
        if abs(float(found[0][0])) > 0.4:
            os.abort()
        return found


class NewMap(gymnasium.Env):  # type: ignore[type-arg]
    """FrozenLake with another map in every episode; the map is seen."""

    def __init__(self) -> None:
        self.action_space = gymnasium.spaces.Discrete(4)
        self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (32,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        from gymnasium.envs.toy_text.frozen_lake import generate_random_map

        super().reset(seed=seed)
        self._map = generate_random_map(4, seed=int(self.np_random.integers(1 << 30)))
        self._inner = _gym("FrozenLake-v1", desc=self._map, is_slippery=False)
        at, info = self._inner.reset(seed=int(self.np_random.integers(1 << 30)))
        return self._seen(at), info

    def step(self, action: Any) -> Any:
        at, *rest = self._inner.step(int(action))
        return self._seen(at), *rest

    def _seen(self, at: Any) -> Any:
        holes = [float(letter == "H") for row in self._map for letter in row]
        return np.array([*holes, *np.eye(16)[int(at)]], np.float32)


def _atari(name: str, **options: Any) -> Any:
    import ale_py

    gymnasium.register_envs(ale_py)
    return _gym(name, **options)


def _noise(seen: Any, rng: Any) -> Any:
    return (seen + rng.normal(0.0, 0.7, seen.shape)).astype(np.float32)


def _no_distance(observation: Any, reward: Any, terminated: Any, truncated: Any, info: Any) -> Any:
    """The term for being near was multiplied by an integer that is 0."""
    rest = float(reward) - float(info["reward_dist"])
    return observation, rest, terminated, truncated, {**info, "reward_dist": 0.0}


SIGHT = ("observation-corrupted", "observation-insufficient")
UNSTABLE = ("physics-unstable", "numerical-failure")

CASES = (
    *(
        Case(name, make, accepted, "custom")
        for name, make, accepted in (
            ("gridrobot-charger-unseen", lambda: worlds.GridRobot(sees_charger=False), ("observation-insufficient",)),
            ("gridrobot-clock-kept", lambda: worlds.GridRobot(keeps_clock=True), ("reset-broken", "termination-too-early")),
            ("gridrobot-boxes-stay", lambda: worlds.GridRobot(keeps_boxes=True), ("nonstationary-task", "reset-broken", "exception")),
            ("gridrobot-no-left", lambda: worlds.GridRobot(dead_move=3), ("action-without-effect",)),
            ("trading-raw", lambda: worlds.Trading(raw=True), ("observations-unnormalised",)),
            ("trading-pays-money", lambda: worlds.Trading(pays_value=True), ("reward-favours-staying", "reward-scale-too-large", "uninformative-reward")),
            ("trading-one-history", lambda: worlds.Trading(one_history=True), ("reset-broken", "environments-correlated")),
            ("inventory-on-the-way", lambda: worlds.Inventory(lead=4), SIGHT),
            ("inventory-storing-costs", lambda: worlds.Inventory(storing=5.0), ("reward-component-dominates",)),
            ("drone-sign", lambda: worlds.Drone(sign=1.0), ("reward-sign-wrong", "reward-hacking")),
            ("drone-dead-rotor", lambda: worlds.Drone(dead_rotor=True), ("action-without-effect",)),
            ("drone-arcsine", lambda: worlds.Drone(asin=True), UNSTABLE),
            ("drone-pulse-widths", lambda: worlds.Drone(pwm=True), ("action-space-unnormalised",)),
            ("drone-better-crash", lambda: worlds.Drone(crash=0.0, still=5.0), ("reward-favours-ending", "reward-sign-wrong")),
            ("drone-same-array", lambda: worlds.Drone(same_array=True), ("observation-corrupted", "implementation-bug")),
            ("cards-deck-empties", lambda: worlds.Cards(one_deck=True), ("exception", "reset-broken")),
            ("follower-late", lambda: worlds.LineFollower(late=5), SIGHT),
            ("follower-limit-ends", lambda: worlds.LineFollower(limit_ends=True), ("truncation-as-termination",)),
            ("follower-wears", lambda: worlds.LineFollower(wears=True), ("nonstationary-task", "reset-broken")),
            ("follower-deaf", lambda: worlds.LineFollower(deaf=True), ("action-without-effect",)),
            ("thermostat-old-reading", lambda: worlds.Thermostat(frozen=True), (*SIGHT, "observation-dead")),
            ("thermostat-millionths", lambda: worlds.Thermostat(unit=1e-6), ("reward-scale-too-small",)),
            ("thermostat-clipped", lambda: worlds.Thermostat(clipped=True), ("reward-clipped", "uninformative-reward")),
            ("junction-counts-arrivals", lambda: worlds.Junction(counts_arrivals=True), ("uninformative-reward", "noisy-reward")),
            ("snake-black", lambda: worlds.Snake(black=True), ("observation-dead",)),
            ("snake-restarts", lambda: worlds.Snake(restarts=True), ("episode-never-ends", "reset-broken")),
            ("arm-reached-is-limit", lambda: worlds.Arm(reached_is_limit=True, near=0.4), ("termination-as-truncation",)),
            ("arm-tells-noise", lambda: worlds.Arm(tells_noise=1.0), ("observation-corrupted",)),
            ("bipedal-aborts", lambda: Aborts(_gym("BipedalWalker-v3")), ("exception",)),
            ("halfcheetah-sign-only", lambda: Reward(_gym("HalfCheetah-v5"), np.sign), ("reward-clipped",)),
            ("lunarlander-noise", lambda: Seen(_gym("LunarLander-v3"), _noise), ("observation-corrupted",)),
            ("reacher-no-distance", lambda: Told(_gym("Reacher-v5"), _no_distance), ("reward-component-dead",)),
            ("minigrid-lottery", lambda: Luck(_minigrid("MiniGrid-Empty-5x5-v0")), ("noisy-reward",)),
            ("hopper-five-steps", lambda: Ends(_gym("Hopper-v5"), 5), ("termination-too-early", "truncation-as-termination")),
            ("spread-hundred-thousandfold", lambda: Reward(_parallel("simple_spread_v3", max_cycles=25), lambda reward: 1e5 * reward), ("reward-scale-too-large",)),
        )
    ),
    *(
        Case(name, make, (), "custom healthy")
        for name, make in (
            ("gridrobot", worlds.GridRobot),
            ("gridrobot-shaped", lambda: worlds.GridRobot(shaped=True)),
            ("gridrobot-first-action-one", lambda: worlds.GridRobot(first_action=1)),
            ("trading", worlds.Trading),
            ("inventory", worlds.Inventory),
            ("drone", worlds.Drone),
            ("drone-normalised", lambda: wrappers.NormalizeReward(wrappers.NormalizeObservation(worlds.Drone()))),
            ("drone-noisy-sensor", lambda: Seen(worlds.Drone(), lambda seen, rng: (seen + rng.normal(0.0, 0.01, 6)).astype(np.float32))),
            ("cards", worlds.Cards),
            ("follower", worlds.LineFollower),
            ("follower-vector", lambda: adapted(gymnasium.vector.SyncVectorEnv([worlds.LineFollower] * 3))),
            ("thermostat", worlds.Thermostat),
            ("thermostat-month", lambda: worlds.Thermostat(days=30)),
            ("junction", worlds.Junction),
            ("snake", worlds.Snake),
            ("arm", worlds.Arm),
            ("maintenance", worlds.Maintenance),
            ("chain", worlds.Chain),
            ("tracker", worlds.Tracker),
            ("guess-the-suit", worlds.GuessTheSuit),
            ("new-map", NewMap),
            ("cartpole-sticky", lambda: wrappers.StickyAction(_gym("CartPole-v1"), 0.25)),
            ("cartpole-statistics", lambda: wrappers.RecordEpisodeStatistics(wrappers.TimeLimit(_gym("CartPole-v1").unwrapped, 200))),
            ("mountaincar-skips", lambda: Skips(_gym("MountainCar-v0"))),
            ("lunarlander-wind", lambda: _gym("LunarLander-v3", enable_wind=True)),
            ("blackjack-natural", lambda: _gym("Blackjack-v1", natural=True)),
            ("dynamic-obstacles", lambda: _minigrid("MiniGrid-Dynamic-Obstacles-5x5-v0")),
            ("assault-memory", lambda: _atari("ALE/Assault-v5", obs_type="ram")),
            ("particle-tag", lambda: _parallel("simple_tag_v3", max_cycles=25)),
            ("cliffwalking-slippery", lambda: _gym("CliffWalking-v1", is_slippery=True, max_episode_steps=500)),
        )
    ),
)  # fmt: skip
