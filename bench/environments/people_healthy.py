"""The fourteen sound and odd environments beside the faulty ones of `people`, as people write them."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class AdBidEnv(gymnasium.Env):  # type: ignore[type-arg]
    """One bid per episode (continuous bandit)."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 1, (5,), np.float32)
        self.action_space = spaces.Box(0, 1, (1,), np.float32)
        self.weights = np.array([0.2, 0.5, -0.3, 0.1, 0.4])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x = self.np_random.random(5).astype(np.float32)
        return self.x, {}

    def step(self, action: Any) -> Any:
        worth = float(np.clip(self.x @ self.weights + 0.3, 0, 1))
        bid = float(np.clip(action[0], 0, 1))
        rival = self.np_random.beta(2, 3)
        reward = worth - rival if bid > rival else 0.0
        return self.x, float(reward), True, False, {}


class LightsOutEnv(gymnasium.Env):  # type: ignore[type-arg]
    """A puzzle with one fixed start and no chance in it."""

    def __init__(self) -> None:
        self.observation_space = spaces.MultiBinary(9)
        self.action_space = spaces.Discrete(9)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.b = np.array([1, 0, 1, 0, 0, 0, 1, 0, 1], np.int8)
        self.t = 0
        return self.b.copy(), {}

    def step(self, action: Any) -> Any:
        y, x = divmod(int(action), 3)
        for dy, dx in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
            if 0 <= y + dy < 3 and 0 <= x + dx < 3:
                self.b[(y + dy) * 3 + x + dx] ^= 1
        self.t += 1
        done = not self.b.any()
        return self.b.copy(), 1.0 if done else -0.02, bool(done), self.t >= 50, {}


class TicTacToeEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Against a random opponent; a taken field is a lost game."""

    LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1, 1, (9,), np.int8)
        self.action_space = spaces.Discrete(9)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.b = np.zeros(9, np.int8)
        if self.np_random.random() < 0.5:
            self.b[self.np_random.integers(9)] = -1
        return self.b.copy(), {"action_mask": (self.b == 0)}

    def _won(self, who: int) -> bool:
        return any(all(self.b[i] == who for i in line) for line in self.LINES)

    def step(self, action: Any) -> Any:
        info = {}
        if self.b[action] != 0:
            return self.b.copy(), -1.0, True, False, info
        self.b[action] = 1
        if self._won(1):
            return self.b.copy(), 1.0, True, False, info
        free = np.flatnonzero(self.b == 0)
        if not len(free):
            return self.b.copy(), 0.0, True, False, info
        self.b[self.np_random.choice(free)] = -1
        if self._won(-1):
            return self.b.copy(), -1.0, True, False, info
        done = not (self.b == 0).any()
        return self.b.copy(), 0.0, bool(done), False, {"action_mask": (self.b == 0)}


class LiquidationEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Sell shares within 30 steps: a true finite horizon, with the time left in the observation."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-3, 3, (3,), np.float32)
        self.action_space = spaces.Box(0, 1, (1,), np.float32)

    def _obs(self) -> Any:
        return np.array([self.left, 1 - self.t / 30, np.clip(self.price - 1, -3, 3)], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.left, self.t, self.price = 1.0, 0, 1.0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        sell = float(np.clip(action[0], 0, 1)) * self.left
        self.t += 1
        if self.t >= 30:
            sell = self.left
        impact = 0.5 * sell
        reward = sell * (self.price - impact)
        self.left -= sell
        self.price *= math.exp(self.np_random.normal(0, 0.01))
        return self._obs(), float(reward), self.t >= 30, False, {}


class FerryEnv(gymnasium.Env):  # type: ignore[type-arg]
    """The fare is paid on arrival; waiting costs a little; the boat may leave with any number of cars."""

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            {"queue": spaces.Box(0, 40, (1,), np.float32), "aboard": spaces.Discrete(9), "side": spaces.Discrete(2)}
        )
        self.action_space = spaces.Discrete(2)

    def _obs(self) -> Any:
        return {"queue": np.array([self.queue], np.float32), "aboard": self.aboard, "side": self.side}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.queue, self.aboard, self.side, self.t = float(self.np_random.integers(5)), 0, 0, 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.queue = min(40.0, self.queue + self.np_random.poisson(0.8))
        reward = -0.01 * self.queue
        if action == 1:
            self.side = 1 - self.side
            reward += 1.0 * self.aboard - 1.5
            self.aboard = 0
        elif self.queue >= 1 and self.aboard < 8:
            take = min(2, int(self.queue), 8 - self.aboard)
            self.queue -= take
            self.aboard += take
        self.t += 1
        return self._obs(), float(reward), False, self.t >= 120, {}


class ThermalSoaringEnv(gymnasium.Env):  # type: ignore[type-arg]
    """A glider in rising air: much chance in it, the wind is only felt."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (5,), np.float32)
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)

    def _obs(self) -> Any:
        return np.array([*(self.c - self.p) / 100, math.cos(self.h), math.sin(self.h), self.z / 500], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.p = np.zeros(2)
        self.c = self.np_random.uniform(-150, 150, 2)
        self.h, self.z, self.t = self.np_random.uniform(-3.1, 3.1), 300.0, 0
        return self._obs(), {}

    def step(self, a: Any) -> Any:
        self.h += 0.4 * float(np.clip(a[0], -1, 1))
        self.p = self.p + 10 * np.array([math.cos(self.h), math.sin(self.h)])
        lift = 4 * math.exp(-np.sum((self.p - self.c) ** 2) / (2 * 60**2)) - 1 + self.np_random.normal(0, 0.5)
        self.z = min(1000.0, self.z + lift)
        self.c = self.c + self.np_random.normal(0, 2, 2)
        self.t += 1
        down = self.z <= 0
        return self._obs(), float(lift) / 4, bool(down), self.t >= 400, {}


class CaptchaSlider(gymnasium.Env):  # type: ignore[type-arg]
    """Slide to the mark and press; only pressing at the mark pays, and a wrong press ends the episode."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 1, (2,), np.float32)
        self.action_space = spaces.Discrete(3)

    def _obs(self) -> Any:
        return np.array([self.x / 20, self.m / 20], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x, self.m = (int(v) for v in self.np_random.integers(0, 21, 2))
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        if action == 2:
            return self._obs(), 1.0 if self.x == self.m else 0.0, True, False, {}
        self.x = int(np.clip(self.x + (1 if action else -1), 0, 20))
        return self._obs(), 0.0, False, self.t >= 60, {}


class MultiRobotEnv(gymnasium.Env):  # type: ignore[type-arg]
    """A robot whose mass differs per episode and is told; MultiDiscrete thrusters."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-10, 10, (6,), np.float32)
        self.action_space = spaces.MultiDiscrete([3, 3])

    def _obs(self) -> Any:
        return np.array([*self.p, *self.v, self.mass, 1.0], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.mass = self.np_random.uniform(0.5, 3)
        self.p = self.np_random.uniform(-3, 3, 2)
        self.v = np.zeros(2)
        self.t = 0
        return self._obs(), {}

    def step(self, a: Any) -> Any:
        f = np.asarray(a, float) - 1
        self.v = 0.98 * self.v + 0.1 * f / self.mass
        old = np.linalg.norm(self.p)
        self.p = np.clip(self.p + 0.1 * self.v, -10, 10)
        new = np.linalg.norm(self.p)
        self.t += 1
        reward = 10 * (old - new) - 0.01 * np.abs(f).sum()
        home = new < 0.3
        return self._obs(), float(reward) + 10.0 * home, bool(home), self.t >= 300, {}


class ServerFarmEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Cut at 500; the reward is a cost that is always below zero; actuators lag, and the lag is seen."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 1, (4,), np.float32)
        self.action_space = spaces.Discrete(5)

    def _obs(self) -> Any:
        return np.array([self.on / 20, self.starting / 5, self.load / 20, (self.t % 100) / 100], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.on, self.starting, self.load = int(self.np_random.integers(5, 15)), 0, 8.0
        self.t = int(self.np_random.integers(100))
        self.n = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.on = min(20, self.on + self.starting)
        self.starting = 0
        if action >= 2:
            self.starting = int(action) - 2
        else:
            self.on = max(1, self.on - 2 * int(action))
        target = 10 + 6 * math.sin(2 * math.pi * self.t / 100)
        self.load = float(np.clip(self.load + 0.2 * (target - self.load) + self.np_random.normal(0, 0.3), 0, 20))
        cost = 0.02 * self.on + 0.3 * max(0, self.load - self.on)
        self.t += 1
        self.n += 1
        return self._obs(), -cost, False, self.n >= 500, {"energy": self.on * 0.02}


class HillCarSparse(gymnasium.Env):  # type: ignore[type-arg]
    """Pays 1 at the top only, the top is near enough for chance to find it at times."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(np.array([-1.5, -2]), np.array([1.5, 2]), dtype=np.float64)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.s = np.array([self.np_random.uniform(-0.8, 0.6), 0.0])
        self.t = 0
        return self.s.copy(), {}

    def step(self, a: Any) -> Any:
        x, v = self.s
        v = np.clip(v + 0.05 * (2 * a - 1) - 0.04 * math.sin(2 * x), -2, 2)
        x = np.clip(x + 0.1 * v, -1.5, 1.5)
        if abs(x) >= 1.5 and x < 0:
            v = 0.0
        self.s = np.array([x, v])
        self.t += 1
        top = x >= 1.2
        return self.s.copy(), 1.0 if top else 0.0, bool(top), self.t >= 200, {}


class DishwasherEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Shaped by a potential; the shaping says so in info."""

    def __init__(self) -> None:
        self.observation_space = spaces.MultiDiscrete([6, 6])
        self.action_space = spaces.Discrete(3)

    def _phi(self) -> Any:
        return -(self.dirty + 2 * self.stack) / 10

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.dirty, self.stack, self.t = int(self.np_random.integers(1, 6)), int(self.np_random.integers(0, 6)), 0
        return np.array([self.dirty, self.stack]), {}

    def step(self, a: Any) -> Any:
        before = self._phi()
        if a == 0 and self.dirty > 0 and self.stack < 5:
            self.dirty -= 1
            self.stack += 1
        elif a == 1 and self.stack > 0:
            self.stack -= 1
        self.t += 1
        clean = self.dirty == 0 and self.stack == 0
        task = 2.0 if clean else -0.05
        shaping = 0.99 * (0.0 if clean else self._phi()) - before
        info = {"reward_task": task, "reward_shaping": shaping}
        return np.array([self.dirty, self.stack]), float(task + shaping), bool(clean), self.t >= 60, info


class BuoyEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Hold a buoy in waves: noise in dynamics, everything is one scale, starts vary a little."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-5, 5, (4,), np.float32)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.s = np.concatenate([self.np_random.uniform(-1, 1, 2), np.zeros(2)])
        self.t = 0
        return self.s.astype(np.float32), {}

    def step(self, a: Any) -> Any:
        a = np.clip(a, -1, 1)
        self.s[2:] = 0.9 * self.s[2:] + 0.2 * a + self.np_random.normal(0, 0.05, 2)
        self.s[:2] = self.s[:2] + 0.1 * self.s[2:]
        self.t += 1
        lost = np.abs(self.s[:2]).max() > 4
        reward = 1 - np.linalg.norm(self.s[:2]) - 0.05 * float(a @ a)
        return self.s.astype(np.float32), float(reward), bool(lost), self.t >= 250, {}


class PotionShopEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Tokens as observation: mix three of eight herbs; the recipe differs per episode and is told."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 8, (6,), np.int64)
        self.action_space = spaces.Discrete(8)

    def _obs(self) -> Any:
        return np.array([*self.recipe, *(self.mixed + [8] * 3)[:3]], np.int64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.recipe = [int(v) for v in self.np_random.integers(0, 8, 3)]
        self.mixed = []
        return self._obs(), {}

    def step(self, a: Any) -> Any:
        right = int(a) == self.recipe[len(self.mixed)]
        self.mixed.append(int(a))
        done = len(self.mixed) == 3
        return self._obs(), 1.0 if right else 0.0, done, False, {}


class RocketHopEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Land a rocket: shaped by progress, bonus for a soft landing, penalty for a crash."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float32)
        self.action_space = spaces.Discrete(3)

    def _obs(self) -> Any:
        return np.array([self.h / 50, self.v / 10, self.fuel / 100], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.h, self.v, self.fuel, self.t = self.np_random.uniform(30, 60), self.np_random.uniform(-8, 0), 100.0, 0
        return self._obs(), {}

    def step(self, a: Any) -> Any:
        thrust = 6.0 * a if self.fuel > 0 else 0.0
        self.fuel = max(0.0, self.fuel - a)
        self.v += (thrust - 5.0) * 0.2
        old = self.h
        self.h = self.h + self.v * 0.2
        self.t += 1
        reward = -0.05 - 0.02 * int(a)
        if self.h <= 0:
            return (
                self._obs(),
                reward + (20.0 if self.v > -3 else -10.0),
                True,
                False,
                {"is_success": bool(self.v > -3)},
            )
        if self.h > 120:
            return self._obs(), reward - 20.0, True, False, {"is_success": False}
        reward += 0.1 * (old - self.h) if self.v > -6 else 0.0
        return self._obs(), float(reward), False, self.t >= 400, {"is_success": False}
