"""Environments that are not Gymnasium's own, seen as one: vector, PettingZoo parallel and TorchRL environments.

Of several agents or copies the first is followed; the others take random actions.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from rlclinic.model.errors import UsageError


def as_gymnasium(environment: Any) -> Any:
    """The environment itself, or a view of it as a single Gymnasium environment."""
    if isinstance(environment, gymnasium.Env):
        return environment
    if isinstance(environment, gymnasium.vector.VectorEnv):
        return FirstCopy(environment)
    if hasattr(environment, "possible_agents") and hasattr(environment, "action_space"):
        return FirstAgent(environment)
    if hasattr(environment, "observation_spec") and hasattr(environment, "rollout"):
        return TensorEnvironment(environment)
    kind = type(environment).__name__
    raise UsageError(f"a {kind} is no environment", hint="a Gymnasium, PettingZoo parallel or TorchRL environment")


class FirstCopy(gymnasium.Env):
    """The first copy of a vector environment; an end is told as the vector tells it."""

    def __init__(self, vector: Any) -> None:
        self._vector = vector
        self.observation_space = vector.single_observation_space
        self.action_space = vector.single_action_space
        self._again: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._vector.action_space.seed(seed)
        observations, _ = self._vector.reset(seed=seed, options=options)
        return observations[0], {}

    def step(self, action: Any) -> Any:
        actions = self._vector.action_space.sample()
        actions[0] = action
        observations, rewards, terminated, truncated, infos = self._vector.step(actions)
        observation = observations[0]
        if (terminated[0] or truncated[0]) and "final_obs" in infos:
            observation = infos["final_obs"][0]
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), {}

    def close(self) -> None:
        self._vector.close()


class FirstAgent(gymnasium.Env):
    """One agent of a PettingZoo parallel environment."""

    def __init__(self, parallel: Any) -> None:
        self._parallel = parallel
        self._agent = parallel.possible_agents[0]
        self.observation_space = parallel.observation_space(self._agent)
        self.action_space = parallel.action_space(self._agent)
        self._seen: Any = None
        self._others = np.random.default_rng(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self._others = np.random.default_rng(seed)
        for agent in self._parallel.possible_agents[1:]:
            self._parallel.action_space(agent).seed(int(self._others.integers(1 << 30)))
        observations, infos = self._parallel.reset(seed=seed, options=options)
        self._seen = observations[self._agent]
        return self._seen, dict(infos.get(self._agent, {}))

    def step(self, action: Any) -> Any:
        parallel, own = self._parallel, self._agent
        actions = {agent: parallel.action_space(agent).sample() for agent in parallel.agents if agent != own}
        observations, rewards, terminations, truncations, infos = parallel.step({**actions, own: action})
        self._seen = observations.get(own, self._seen)
        terminated, truncated = bool(terminations.get(own, True)), bool(truncations.get(own, False))
        info = dict(infos.get(own, {}))
        return self._seen, float(rewards.get(own, 0.0)), terminated, truncated, info

    def close(self) -> None:
        self._parallel.close()


class TensorEnvironment(gymnasium.Env):
    """A TorchRL environment with one observation entry."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        keys = [key for key in environment.observation_spec.keys(True, True) if key != "pixels"]
        if not keys:
            raise UsageError("the TorchRL environment has no observation", hint="give it an observation_spec")
        self._key = keys[0]
        spec = environment.observation_spec[self._key]
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, tuple(spec.shape), np.float32)
        self.action_space = _action_space(environment.action_spec)
        self._last: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self._environment.set_seed(seed)
        self._last = self._environment.reset()
        return self._last[self._key].numpy(), {}

    def step(self, action: Any) -> Any:
        import_action = self._environment.action_spec.encode(action)
        self._last["action"] = import_action
        found = self._environment.step(self._last)["next"]
        self._last = found
        terminated = bool(found.get("terminated", found["done"]).any())
        truncated = bool(found.get("truncated", found["done"] & False).any())
        return found[self._key].numpy(), float(found["reward"].sum()), terminated, truncated, {}

    def close(self) -> None:
        self._environment.close()


def _action_space(spec: Any) -> Any:
    count = getattr(getattr(spec, "space", None), "n", None)
    if count is not None:
        return gymnasium.spaces.Discrete(int(count))
    low, high = (np.asarray(end.numpy(), dtype=np.float32) for end in (spec.space.low, spec.space.high))
    return gymnasium.spaces.Box(low, high, dtype=np.float32)
