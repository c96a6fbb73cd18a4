"""A tiny tabular actor-critic behind the probe protocol, with switches for faults: fast enough to probe in a test."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlclinic.probes import UnknownSettings, UnsupportedSpace

KNOWN = {"learning_rate", "n_steps", "gae_lambda", "n_envs", "batch_size", "n_epochs"}
RATE = 0.2


class Tabular:
    """Values and preferences per observation; expected updates, so that a rollout is one clean step."""

    def __init__(
        self, envs: list[Any], gamma: float, lam: float, steps: int, seed: int, faults: frozenset[str]
    ) -> None:
        self.envs, self.gamma, self.lam, self.steps, self.faults = envs, gamma, lam, steps, faults
        self.rng = np.random.default_rng(0 if "seed" in faults else seed)
        if "discount" in faults:
            self.gamma = 1.0
        self.values: dict[bytes, float] = {}
        self.preferences: dict[bytes, Any] = {}
        self.size = int(envs[0].action_space.n)
        self.now = [env.reset(seed=seed + place)[0] for place, env in enumerate(envs)]
        self.returns: list[float] = []
        self.lengths: list[int] = []
        self.env_steps = 0
        self.running = np.zeros((len(envs), 2))

    def train(self, env_steps: int) -> None:
        for _ in range(max(1, env_steps // (self.steps * len(self.envs)))):
            self._rollout()

    def act(self, obs: Any) -> int:
        return int(np.argmax(self.action_probabilities(obs)))

    def value(self, obs: Any) -> float:
        return self.values.get(_key(obs), 0.0)

    def action_probabilities(self, obs: Any) -> Any:
        weights = self.preferences.get(_key(obs), np.zeros(self.size))
        shifted = np.exp(weights - weights.max())
        return shifted / shifted.sum()

    def logged(self) -> Mapping[str, float]:
        if not self.returns:
            return {"env_steps": float(self.env_steps)}
        return {
            "return": float(np.mean(self.returns[-20:])),
            "length": float(np.mean(self.lengths[-20:])),
            "env_steps": float(self.env_steps),
        }

    def advantages(self, batch: Mapping[str, Any]) -> Any:
        return self._advantages(
            batch["rewards"], batch["values"], batch["next_values"], batch["terminated"], batch["truncated"]
        )

    def _advantages(self, rewards: Any, values: Any, following: Any, terminated: Any, truncated: Any) -> Any:
        if "flags" in self.faults:
            terminated, truncated = truncated, terminated
        masked = np.maximum(terminated, truncated) if "time-limit" in self.faults else terminated
        if "done" in self.faults:
            masked = np.zeros_like(masked)
        found, trace = np.zeros_like(rewards), np.zeros(rewards.shape[1])
        for step in reversed(range(len(rewards))):
            delta = rewards[step] + self.gamma * (1 - masked[step]) * following[step] - values[step]
            trace = delta + self.gamma * self.lam * (1 - np.maximum(terminated[step], truncated[step])) * trace
            found[step] = trace
        return found

    def _rollout(self) -> None:
        shape = (self.steps, len(self.envs))
        numbers = {name: np.zeros(shape) for name in ("rewards", "values", "following", "terminated", "truncated")}
        rows = []
        chances: dict[bytes, list[float]] = {}
        for step in range(self.steps):
            for place, env in enumerate(self.envs):
                obs = self.now[place]
                key = obs.tobytes()
                if key not in chances:
                    chances[key] = np.cumsum(self.action_probabilities(obs))[:-1].tolist()
                action = bisect(chances[key], self.rng.random())
                after, reward, terminated, truncated, _ = env.step(action)
                self.env_steps += 1
                self.running[place] += (reward, 1)
                numbers["rewards"][step, place], numbers["values"][step, place] = reward, self.value(obs)
                numbers["following"][step, place] = self.value(after)
                numbers["terminated"][step, place], numbers["truncated"][step, place] = terminated, truncated
                rows.append((step, place, obs, action))
                if terminated or truncated:
                    self.returns.append(float(self.running[place][0]))
                    self.lengths.append(int(self.running[place][1]))
                    self.running[place] = 0
                    after = env.reset()[0]
                self.now[place] = after
        found = self._advantages(*numbers.values())
        self._learn(rows, found, found + numbers["values"])

    def _learn(self, rows: list[Any], advantages: Any, targets: Any) -> None:
        sign = -1.0 if "sign" in self.faults else 0.0 if "actor" in self.faults else 1.0
        totals: dict[bytes, list[float]] = {}
        for step, place, obs, action in rows:
            totals.setdefault(obs.tobytes(), []).append(targets[step, place])
            if sign:
                direction = -self.action_probabilities(obs)
                direction[action] += 1
                kept = self.preferences.get(obs.tobytes(), np.zeros(self.size))
                moved = kept + sign * 0.3 * advantages[step, place] * direction
                self.preferences[obs.tobytes()] = np.minimum(np.maximum(moved, -8), 8)
        if "critic" not in self.faults:
            for key, found in totals.items():
                before = self.values.get(key, 0.0)
                self.values[key] = before + RATE * (float(np.mean(found)) - before)


class Factory:
    """Makes tabular trainers; picklable, so that workers can have it."""

    def __init__(self, *faults: str) -> None:
        self.faults = frozenset(faults)

    def __call__(self, env_fn: Callable[[], Any], *, seed: int, gamma: float, **settings: Any) -> Tabular:
        unknown = set(settings) - KNOWN
        if unknown:
            raise UnknownSettings(sorted(unknown))
        envs = [env_fn() for _ in range(settings.get("n_envs", 1))]
        if not hasattr(envs[0].action_space, "n"):
            raise UnsupportedSpace("only one discrete action")
        lam = 0.95 if "lambda" in self.faults else settings.get("gae_lambda", 0.95)
        return Tabular(envs, gamma, lam, settings.get("n_steps", 32), seed, self.faults)


def _key(obs: Any) -> bytes:
    return np.asarray(obs, np.float32).tobytes()
