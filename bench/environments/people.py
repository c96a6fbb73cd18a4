"""Thirty environments as people write them: labelled and committed to before the checks were read or changed again.

The sixteen here have one natural fault, which their first line names; fourteen are sound and odd.
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from bench.environments.case import Case
from bench.environments.people_healthy import (
    AdBidEnv,
    BuoyEnv,
    CaptchaSlider,
    DishwasherEnv,
    FerryEnv,
    HillCarSparse,
    LightsOutEnv,
    LiquidationEnv,
    MultiRobotEnv,
    PotionShopEnv,
    RocketHopEnv,
    ServerFarmEnv,
    ThermalSoaringEnv,
    TicTacToeEnv,
)


class ElevatorEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Lift in a 6 storey house. FAULT: waiting people are added to the reward, not subtracted."""

    def __init__(self, floors: int = 6) -> None:
        self.floors = floors
        self.observation_space = spaces.Box(0, 1, (2 * floors,), np.float32)
        self.action_space = spaces.Discrete(3)

    def _obs(self) -> Any:
        pos = np.zeros(self.floors)
        pos[self.pos] = 1
        return np.concatenate([pos, np.minimum(self.wait / 10.0, 1)]).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.pos = int(self.np_random.integers(self.floors))
        self.t = 0
        self.wait = self.np_random.integers(0, 3, self.floors).astype(float)
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        if action == 0:
            self.pos = max(0, self.pos - 1)
        elif action == 1:
            self.pos = min(self.floors - 1, self.pos + 1)
        else:
            self.wait[self.pos] = 0
        self.wait += self.np_random.random(self.floors) < 0.15
        self.wait = np.minimum(self.wait, 10)
        self.t += 1
        served = self.wait.sum()
        return self._obs(), float(served) / self.floors, False, self.t >= 150, {"waiting": float(self.wait.sum())}


class SolarHouseEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Charge a battery from solar, sell at the price. FAULT: the battery is not reset."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1, 2, (4,), np.float32)
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)
        self.battery = 0.5

    def _obs(self) -> Any:
        h = 2 * math.pi * self.hour / 24
        return np.array([self.battery, math.sin(h), math.cos(h), self.cloud], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.hour = 0
        self.cloud = float(self.np_random.uniform(0, 1))
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        a = float(np.clip(action[0], -1, 1)) * 0.2
        sun = max(0.0, math.sin(math.pi * (self.hour - 6) / 12)) if 6 <= self.hour <= 18 else 0.0
        sun *= 1 - 0.6 * self.cloud
        price = 0.3 + 0.2 * math.sin(2 * math.pi * (self.hour - 10) / 24)
        new = min(1.0, max(0.0, self.battery + a))
        bought = new - self.battery - 0.1 * sun
        self.battery = new
        self.hour += 1
        self.cloud = float(np.clip(self.cloud + self.np_random.normal(0, 0.1), 0, 1))
        return self._obs(), -price * bought * 5, False, self.hour >= 24, {}


class SatelliteEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Point a satellite with a reaction wheel. FAULT: torque is scaled so that it does next to nothing."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.inertia = 25000.0  # given in kg cm2, used as kg m2

    def _obs(self) -> Any:
        return np.array([math.sin(self.angle), math.cos(self.angle), self.rate], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.angle = self.np_random.uniform(-math.pi, math.pi)
        self.rate = self.np_random.uniform(-0.3, 0.3)
        self.n = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        torque = 2.0 * float(action[0])
        self.rate += torque / self.inertia * 0.1
        self.angle += self.rate * 0.1
        self.angle = (self.angle + math.pi) % (2 * math.pi) - math.pi
        self.n += 1
        reward = -(self.angle**2) - 0.1 * self.rate**2
        return self._obs(), reward, False, self.n >= 200, {}


class CheckersPathEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Cross a river of floating logs. FAULT: an IndexError when the frog leaves at the right edge."""

    def __init__(self, width: int = 9, rows: int = 5) -> None:
        self.w, self.r = width, rows
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Box(0, 1, (rows, width), np.float32)

    def _obs(self) -> Any:
        o = self.logs * 0.5
        o[self.y, self.x] = 1.0
        return o.astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.logs = (self.np_random.random((self.r, self.w)) < 0.7).astype(float)
        self.y, self.x, self.t = self.r - 1, self.w // 2, 0
        self.logs[self.y] = 1
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        dy, dx = [(-1, 0), (1, 0), (0, -1), (0, 1)][int(action)]
        self.y = max(0, self.y + dy) if dy < 0 else min(self.r - 1, self.y + dy)
        self.x = self.x + dx if dx > 0 else max(0, self.x + dx)
        self.t += 1
        if self.logs[self.y, self.x] == 0:
            return self._obs(), -1.0, True, False, {}
        if self.y == 0:
            return self._obs(), 1.0, True, False, {}
        self.logs[1:-1] = np.roll(self.logs[1:-1], 1, axis=1)
        return self._obs(), -0.01, False, self.t >= 80, {}


class PaddleEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Catch falling balls. FAULT: the time limit is told as termination."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1, 1, (4,), np.float32)
        self.action_space = spaces.Discrete(3)

    def _obs(self) -> Any:
        return np.array([self.paddle, self.bx, self.by, self.paddle - self.bx], np.float32).clip(-1, 1)

    def _drop(self) -> Any:
        self.bx, self.by = self.np_random.uniform(-1, 1), 1.0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.paddle, self.steps = 0.0, 0
        self._drop()
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.paddle = float(np.clip(self.paddle + (int(action) - 1) * 0.1, -1, 1))
        self.by -= 0.1
        reward = 0.0
        if self.by <= -0.99:
            reward = 1.0 if abs(self.paddle - self.bx) < 0.2 else -1.0
            self._drop()
        self.steps += 1
        done = self.steps >= 200
        return self._obs(), reward, done, False, {}


class ChemicalReactorEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Hold a reactor's temperature. FAULT: raw units, 350 K beside mole fractions of 1e-3 and Pa of 1e5."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float64)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def _obs(self) -> Any:
        return np.array([self.T, self.c, self.P, self.target], np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.T = self.np_random.uniform(330, 370)
        self.c = self.np_random.uniform(0.5e-3, 2e-3)
        self.P = 1e5 + self.np_random.normal(0, 2e3)
        self.target = self.np_random.uniform(340, 360)
        self.k = 0
        return self._obs(), {}

    def step(self, u: Any) -> Any:
        cool, feed = np.clip(u, -1, 1)
        rate = self.c * math.exp((self.T - 350) / 30)
        self.T += 0.5 * (3000 * rate - 3) - 4 * cool
        self.c = max(0.0, self.c + 2e-4 * (feed + 1) / 2 - 0.1 * rate)
        self.P = 1e5 * self.T / 350 + self.np_random.normal(0, 200)
        self.k += 1
        runaway = self.T > 450 or self.T < 250
        reward = -abs(self.T - self.target) / 20 - (20.0 if runaway else 0.0)
        return self._obs(), reward, bool(runaway), self.k >= 120, {}


class MazeRunnerEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Continuous maze. FAULT: the goal is tested by exact equality of floats, so it never pays."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1, 1, (4,), np.float32)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def _obs(self) -> Any:
        return np.concatenate([self.p, self.g]).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.p = self.np_random.uniform(-1, 1, 2)
        self.g = self.np_random.uniform(-0.9, 0.9, 2)
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.p = np.clip(self.p + 0.08 * np.clip(action, -1, 1), -1, 1)
        self.t += 1
        done = bool(np.all(self.p == self.g))
        reward = 10.0 if done else 0.0
        return self._obs(), reward, done, self.t >= 300, {}


class CraneEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Move a load with a crane without swinging. FAULT: the angular speed of the load is not observed,
    and the target position is drawn at reset but not told."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-5, 5, (3,), np.float32)
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)

    def _obs(self) -> Any:
        return np.array([self.x, self.v, self.th], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x, self.v, self.th, self.w = self.np_random.uniform(-0.2, 0.2, 4)
        self.goal = self.np_random.uniform(-2, 2)
        self.i = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        a = 2.0 * float(np.clip(action[0], -1, 1))
        dt = 0.05
        self.w += (-9.8 * math.sin(self.th) - a * math.cos(self.th)) * dt - 0.02 * self.w
        self.th += self.w * dt
        self.v += a * dt - 0.02 * self.v
        self.x = float(np.clip(self.x + self.v * dt, -4, 4))
        self.i += 1
        reward = -abs(self.x - self.goal) - 0.5 * abs(self.th)
        return self._obs(), reward, False, self.i >= 200, {}


class WarehouseEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Fetch a box and bring it back. FAULT: picking the box up pays each time, and it may be put down again."""

    def __init__(self, n: int = 6) -> None:
        self.n = n
        self.observation_space = spaces.MultiDiscrete([n, n, n, n, 2])
        self.action_space = spaces.Discrete(6)

    def _obs(self) -> Any:
        return np.array([*self.me, *self.box, int(self.carrying)])

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.me = self.np_random.integers(0, self.n, 2)
        self.box = self.np_random.integers(0, self.n, 2)
        self.carrying, self.t = False, 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        reward, done = -0.01, False
        if action < 4:
            self.me = np.clip(self.me + [(0, 1), (0, -1), (1, 0), (-1, 0)][int(action)], 0, self.n - 1)
            if self.carrying:
                self.box = self.me.copy()
        elif action == 4 and not self.carrying and (self.me == self.box).all():
            self.carrying, reward = True, 1.0
        elif action == 5 and self.carrying:
            self.carrying = False
            if (self.me == 0).all():
                reward, done = 5.0, True
        self.t += 1
        return self._obs(), reward, done, self.t >= 200, {"is_success": done}


class HopperLegEnv(gymnasium.Env):  # type: ignore[type-arg]
    """One-legged hop toy. FAULT: a cost of 1 for each step alive and nothing for falling, so that falling is best."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-10, 10, (4,), np.float32)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def _obs(self) -> Any:
        return np.array([self.z, self.vz, self.tilt, self.x], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.z, self.vz, self.vx = 1.0, 0.0, 0.0
        self.x = 0.0
        self.tilt = self.np_random.uniform(-0.1, 0.1)
        self.k = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        push, lean = np.clip(action, -1, 1)
        dt = 0.05
        if self.z <= 1.0:
            self.vz = max(self.vz, 0) + 3.0 * max(push, 0)
        self.vz -= 9.8 * dt * (self.z > 1.0)
        self.z = max(1.0, self.z + self.vz * dt)
        self.tilt += 0.06 * self.tilt + 0.04 * lean + self.np_random.normal(0, 0.01)
        self.vx = 0.9 * self.vx + 0.3 * self.tilt
        self.x += self.vx * dt
        self.k += 1
        fell = abs(self.tilt) > 0.6
        reward = -1.0 + 0.5 * self.vx
        return self._obs(), float(reward), bool(fell), self.k >= 400, {}


class PortfolioEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Hold cash and two shares. FAULT: each step pays the value of the portfolio, not its change."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (6,), np.float32)
        self.action_space = spaces.Box(-1, 1, (3,), np.float32)

    def _obs(self) -> Any:
        return np.array([*self.ret, *self.mom, *self.w[:2]], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.w = np.array([1 / 3, 1 / 3, 1 / 3])
        self.value, self.t = 1.0, 0
        self.ret = np.zeros(2)
        self.mom = self.np_random.normal(0, 1, 2)
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        e = np.exp(2 * np.clip(action, -1, 1))
        w = e / e.sum()
        cost = 0.001 * np.abs(w - self.w).sum()
        self.mom = 0.95 * self.mom + self.np_random.normal(0, 0.3, 2)
        self.ret = 0.01 * self.mom + self.np_random.normal(0, 0.01, 2)
        self.value *= 1 + float(w[:2] @ self.ret) - cost
        self.w = w
        self.t += 1
        return self._obs(), float(self.value), bool(self.value < 0.3), self.t >= 252, {"net_worth": self.value}


class DockingEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Dock a boat. FAULT: pays 1/(distance+0.05) each step; docking ends the episode and pays 10."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-5, 5, (4,), np.float32)
        self.action_space = spaces.Discrete(5)

    def _obs(self) -> Any:
        return np.concatenate([self.p, self.v]).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.p = self.np_random.uniform(-2, 2, 2)
        self.v = np.zeros(2)
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        f = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)][int(action)], float)
        self.v = 0.95 * self.v + 0.05 * f
        self.p = np.clip(self.p + 0.1 * self.v, -4, 4)
        self.t += 1
        d = float(np.linalg.norm(self.p))
        docked = d < 0.1 and np.linalg.norm(self.v) < 0.3
        reward = 1.0 / (d + 0.05) + (10.0 if docked else 0.0)
        return self._obs(), reward, bool(docked), self.t >= 300, {"is_success": bool(docked), "distance": d}


class QueueRouterEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Send jobs to servers. FAULT: the random generator is seeded anew with the same seed at every reset."""

    def __init__(self, servers: int = 4) -> None:
        self.k = servers
        self.observation_space = spaces.Box(0, 1, (servers + 1,), np.float32)
        self.action_space = spaces.Discrete(servers)

    def _obs(self) -> Any:
        return np.append(np.minimum(self.q / 20, 1), self.job / 5).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.rng = np.random.default_rng(42)
        self.speed = np.array([0.5, 0.8, 1.0, 1.5])
        self.q = self.rng.uniform(0, 5, self.k)
        self.job = self.rng.uniform(0.5, 5)
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        wait = self.q[action] / self.speed[action]
        self.q[action] += self.job
        self.q = np.maximum(0, self.q - self.speed)
        self.job = self.rng.uniform(0.5, 5)
        self.t += 1
        return self._obs(), -float(min(wait, 20)) / 20, False, self.t >= 100, {}


class RoverEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Drive a rover by its range finder. FAULT: the observation is clipped to [0, 1] while distances are in metres
    (2 to 30), so that nearly all of its numbers stand at 1."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 1, (6,), np.float32)
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def _obs(self) -> Any:
        d = self.g - self.p
        bearing = (math.atan2(d[1], d[0]) - self.h + math.pi) % (2 * math.pi)
        walls = [30 - self.p[0], 30 + self.p[0], 30 - self.p[1], 30 + self.p[1]]
        return np.clip(np.array([np.linalg.norm(d), bearing, *walls]), 0, 1).astype(np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.p = self.np_random.uniform(-15, 15, 2)
        self.g = self.np_random.uniform(-15, 15, 2)
        self.h = self.np_random.uniform(-math.pi, math.pi)
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        v, w = np.clip(action, -1, 1)
        before = np.linalg.norm(self.g - self.p)
        self.h += 0.3 * w
        self.p = np.clip(self.p + 0.5 * (v + 1) * np.array([math.cos(self.h), math.sin(self.h)]), -28, 28)
        after = np.linalg.norm(self.g - self.p)
        self.t += 1
        there = after < 1.0
        return self._obs(), float(before - after) + (5.0 if there else 0.0), bool(there), self.t >= 250, {}


class TrainBrakeEnv(gymnasium.Env):  # type: ignore[type-arg]
    """Stop a train at the platform. FAULT: log of a negative number once it passed the stop: NaN reward."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = spaces.Box(0, 1, (1,), np.float32)

    def _obs(self) -> Any:
        return np.array([self.d / 1000, self.v / 40], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.d = self.np_random.uniform(600, 1000)
        self.v = self.np_random.uniform(25, 40)
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.v = max(0.0, self.v - 1.2 * float(np.clip(action[0], 0, 1)))
        self.d -= self.v
        self.t += 1
        stopped = self.v <= 0
        reward = -0.05 + (10.0 - np.log(1 + self.d) if stopped else 0.0)
        if self.d < -200:
            return self._obs(), -10.0, True, False, {}
        return self._obs(), float(reward), bool(stopped), self.t >= 120, {}


class DoorKeyRooms(gymnasium.Env):  # type: ignore[type-arg]
    """Find the key, then the door. FAULT: key and door move to a new place at every step."""

    def __init__(self, n: int = 7) -> None:
        self.n = n
        self.observation_space = spaces.Box(0, 1, (7,), np.float32)
        self.action_space = spaces.Discrete(4)

    def _obs(self) -> Any:
        return np.array([*(self.p / self.n), *(self.key / self.n), *(self.door / self.n), float(self.has)], np.float32)

    def _place(self) -> Any:
        self.key = self.np_random.integers(0, self.n, 2)
        self.door = self.np_random.integers(0, self.n, 2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._place()
        self.p = self.np_random.integers(0, self.n, 2)
        self.has, self.t = False, 0
        return self._obs(), {}

    def step(self, a: Any) -> Any:
        self._place()
        self.p = np.clip(self.p + [(0, 1), (0, -1), (1, 0), (-1, 0)][int(a)], 0, self.n - 1)
        reward, done = -0.01, False
        if not self.has and (self.p == self.key).all():
            self.has, reward = True, 0.5
        elif self.has and (self.p == self.door).all():
            reward, done = 1.0, True
        self.t += 1
        return self._obs(), reward, done, self.t >= 100, {}


def people() -> tuple[Case, ...]:
    """Environments with one fault, then sound ones."""
    return (
        Case("elevator", ElevatorEnv, ("reward-sign-wrong", "reward-hacking", "uninformative-reward"), "people"),
        Case("solar-house", SolarHouseEnv, ("reset-broken",), "people"),
        Case("satellite", SatelliteEnv, ("action-without-effect",), "people"),
        Case("checkers-path", CheckersPathEnv, ("exception",), "people"),
        Case("paddle", PaddleEnv, ("truncation-as-termination",), "people"),
        Case("chemical-reactor", ChemicalReactorEnv, ("observations-unnormalised",), "people"),
        Case("maze-runner", MazeRunnerEnv, ("sparse-reward", "uninformative-reward", "task-too-hard"), "people"),
        Case("crane", CraneEnv, ("observation-insufficient",), "people"),
        Case("warehouse", WarehouseEnv, ("reward-hacking", "reward-favours-staying"), "people"),
        Case("hopper-leg", HopperLegEnv, ("reward-favours-ending",), "people"),
        Case("portfolio", PortfolioEnv, ("reward-favours-staying", "reward-hacking", "uninformative-reward"), "people"),
        Case("docking", DockingEnv, ("reward-favours-staying", "reward-hacking"), "people"),
        Case("queue-router", QueueRouterEnv, ("reset-broken",), "people"),
        Case("rover", RoverEnv, ("observation-dead", "observation-corrupted", "observation-insufficient"), "people"),
        Case("train-brake", TrainBrakeEnv, ("physics-unstable", "numerical-failure"), "people"),
        Case(
            "door-key-rooms",
            DoorKeyRooms,
            ("observation-corrupted", "nonstationary-task", "observation-insufficient", "reset-broken", "noisy-reward"),
            "people",
        ),
        Case("ad-bid", AdBidEnv, (), "people healthy"),
        Case("lights-out", LightsOutEnv, (), "people healthy"),
        Case("tic-tac-toe", TicTacToeEnv, (), "people healthy"),
        Case("liquidation", LiquidationEnv, (), "people healthy"),
        Case("ferry", FerryEnv, (), "people healthy"),
        Case("thermal-soaring", ThermalSoaringEnv, (), "people healthy"),
        Case("captcha-slider", CaptchaSlider, (), "people healthy"),
        Case("multi-robot", MultiRobotEnv, (), "people healthy"),
        Case("server-farm", ServerFarmEnv, (), "people healthy"),
        Case("hill-car-sparse", HillCarSparse, (), "people healthy"),
        Case("dishwasher", DishwasherEnv, (), "people healthy"),
        Case("buoy", BuoyEnv, (), "people healthy"),
        Case("potion-shop", PotionShopEnv, (), "people healthy"),
        Case("rocket-hop", RocketHopEnv, (), "people healthy"),
    )
