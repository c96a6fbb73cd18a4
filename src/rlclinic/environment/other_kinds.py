"""Environments that are not Gymnasium's own, seen as one: vector, PettingZoo, TorchRL and old Gym environments.

Of several agents or copies the first is followed; the others take random actions.
"""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from rlclinic.environment.chance import global_chance
from rlclinic.lab.instruments.flatten import Flatten
from rlclinic.model.environment_facts import NOT_MEASURED, Problem
from rlclinic.model.errors import UsageError

NO_FINAL = "the first observation of the next episode, and no final_obs in infos"
OLD_API = "it takes no seed, as before Gymnasium 0.26"


def as_gymnasium(environment: Any) -> Any:
    """The environment itself, or a view of it as a single Gymnasium environment."""
    if isinstance(environment, gymnasium.vector.VectorEnv):
        return FirstCopy(environment)
    kind = type(environment)
    # Asked of classes: environments may pass every name on to what they hold.
    if hasattr(kind, "observation_spec") and hasattr(kind, "rollout"):
        return TensorEnvironment(environment)
    if hasattr(kind, "env_method"):
        return FirstOfVecEnv(environment)
    if hasattr(kind, "agent_iter"):
        raise UsageError("agents that act by turns cannot be examined", hint="name its parallel_env instead")
    if hasattr(environment, "possible_agents") and hasattr(environment, "action_space"):
        return FirstAgent(environment)
    if not callable(getattr(environment, "reset", None)) or not callable(getattr(environment, "step", None)):
        raise UsageError(
            f"a {kind.__name__} is no environment", hint="a Gymnasium, PettingZoo parallel or TorchRL environment"
        )
    parameters = inspect.signature(environment.reset).parameters.values()
    if not any(one.name == "seed" or one.kind is one.VAR_KEYWORD for one in parameters):
        return OldStyle(environment)
    return environment


class FirstCopy(gymnasium.Env):
    """The first copy of a vector environment; an end is told as the vector tells it."""

    def __init__(self, vector: Any) -> None:
        self.vector = vector
        self.observation_space = vector.single_observation_space
        self.action_space = vector.single_action_space
        self._mode = str(getattr(vector, "metadata", {}).get("autoreset_mode", "")).rpartition(".")[2]
        self.problems: tuple[Problem, ...] = ()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.vector.action_space.seed(seed)
        observations, _ = self.vector.reset(seed=seed, options=options)
        return self._first(observations), {}

    def step(self, action: Any) -> Any:
        vector, space = self.vector, self.action_space
        actions = [action, *list(iterate(vector.action_space, vector.action_space.sample()))[1:]]
        batch = concatenate(space, actions, create_empty_array(space, vector.num_envs))
        observations, rewards, terminated, truncated, infos = vector.step(batch)
        ended = terminated | truncated
        observation = self._first(observations)
        if ended[0] and infos.get("final_obs") is not None:
            observation = infos["final_obs"][0]
        elif ended[0] and self._mode == "SAME_STEP":
            self.problems = (Problem("breaks-contract", "step", NO_FINAL),)
        elif self._mode == "DISABLED" and ended.any() and not ended[0]:
            vector.reset(options={"reset_mask": ended})
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), {}

    def close(self) -> None:
        self.vector.close()

    def starts_alike(self, see: Flatten) -> float:
        """Share of first observations that another copy has too, where starts vary at all."""
        batches = [self.vector.reset(seed=seed)[0] for seed in (None, None, 1, 2)]
        rows = [[see(one).tobytes() for one in iterate(self.vector.observation_space, batch)] for batch in batches]
        if len({row[0] for row in rows}) < len(rows):
            return NOT_MEASURED
        return float(np.mean([row.count(key) > 1 for row in rows for key in row]))

    def _first(self, observations: Any) -> Any:
        return next(iter(iterate(self.vector.observation_space, observations)))


class FirstOfVecEnv(gymnasium.Env):
    """The first copy of a VecEnv of Stable-Baselines3, which resets by itself."""

    def __init__(self, vector: Any) -> None:
        self.vector = vector
        self.observation_space, self.action_space = vector.observation_space, vector.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.vector.seed(seed)
        return self._first(self.vector.reset()), {}

    def step(self, action: Any) -> Any:
        others = [self.action_space.sample() for _ in range(1, self.vector.num_envs)]
        observations, rewards, dones, infos = self.vector.step(np.array([action, *others]))
        info = dict(infos[0])
        observation = info.pop("terminal_observation", None) if dones[0] else None
        truncated = bool(dones[0]) and bool(info.pop("TimeLimit.truncated", False))
        seen = self._first(observations) if observation is None else observation
        return seen, float(rewards[0]), bool(dones[0]) and not truncated, truncated, info

    def close(self) -> None:
        self.vector.close()

    def _first(self, observations: Any) -> Any:
        if isinstance(observations, dict):
            return {key: value[0] for key, value in observations.items()}
        return observations[0]


class FirstAgent(gymnasium.Env):
    """One agent of a PettingZoo parallel environment."""

    def __init__(self, parallel: Any) -> None:
        self._parallel = parallel
        self._agent = parallel.possible_agents[0]
        self.others = len(parallel.possible_agents) - 1
        self.observation_space = parallel.observation_space(self._agent)
        self.action_space = parallel.action_space(self._agent)
        self._seen: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        for agent in self._parallel.possible_agents[1:]:
            self._parallel.action_space(agent).seed(int(self.np_random.integers(1 << 30)))
        observations, infos = self._parallel.reset(seed=seed, options=options)
        self._seen = observations[self._agent]
        return self._seen, dict((infos or {}).get(self._agent, {}))

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


class OldStyle(gymnasium.Env):
    """An environment of the old Gym; that it is one is told, and the rest is examined all the same."""

    def __init__(self, environment: Any) -> None:
        self.env = environment
        self.observation_space, self.action_space = environment.observation_space, environment.action_space
        self.problems = (Problem("breaks-api", "reset", OLD_API),)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            global_chance(seed)
            if callable(getattr(self.env, "seed", None)):
                self.env.seed(seed)
        found = self.env.reset()
        paired = isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], dict)
        return found if paired else (found, {})

    def step(self, action: Any) -> Any:
        found = self.env.step(action)
        if not isinstance(found, tuple) or len(found) != 4:
            return found
        observation, reward, done, info = found
        truncated = bool(done) and bool((info or {}).get("TimeLimit.truncated", False))
        return observation, reward, bool(done) and not truncated, truncated, info

    def close(self) -> None:
        if callable(getattr(self.env, "close", None)):
            self.env.close()


class TensorEnvironment(gymnasium.Env):
    """A TorchRL environment; of a batch of environments the first is followed."""

    def __init__(self, environment: Any) -> None:
        self._environment = environment
        batch = len(environment.batch_size)
        self._place = (0,) * batch
        specs = {
            key if isinstance(key, str) else ".".join(key): (key, spec)
            for key, spec in environment.observation_spec.items(True, True)
            if spec.dtype.is_floating_point or "int" in str(spec.dtype)
        }
        if not specs:
            raise UsageError("the TorchRL environment has no observation", hint="give it an observation_spec")
        self._keys = {name: key for name, (key, _) in specs.items()}
        spaces = {name: _box(tuple(spec.shape[batch:])) for name, (_, spec) in specs.items()}
        self.observation_space = gymnasium.spaces.Dict(spaces) if len(spaces) > 1 else next(iter(spaces.values()))
        self.action_space = _action_space(environment.action_spec, batch)
        self._last: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        if seed is not None:
            self._environment.set_seed(seed)
        self._last = self._environment.reset()
        return self._seen(self._last), {}

    def step(self, action: Any) -> Any:
        environment, place = self._environment, self._place
        chosen = environment.rand_action(self._last.clone(recurse=False))
        own = environment.action_spec[place] if place else environment.action_spec
        chosen[environment.action_key][place or ...] = own.encode(action)
        stepped = environment.step(chosen)
        found, self._last = stepped["next"][place or ...], environment.step_mdp(stepped)
        truncated = bool(found.get("truncated", found["done"] & False).any())
        terminated = bool(found.get("terminated", found["done"]).any())
        return self._seen(stepped["next"]), float(found["reward"].sum()), terminated, truncated, {}

    def close(self) -> None:
        self._environment.close(raise_if_closed=False)

    def _seen(self, found: Any) -> Any:
        rows = {name: found[key][self._place or ...].detach().numpy() for name, key in self._keys.items()}
        return rows if len(rows) > 1 else next(iter(rows.values()))


def _box(shape: tuple[int, ...]) -> Any:
    return gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float32)


def _action_space(spec: Any, batch: int) -> Any:
    inner = spec[(0,) * batch] if batch else spec
    space: Any = getattr(inner, "space", None)
    if (counts := getattr(inner, "nvec", None)) is not None and getattr(counts, "numel", lambda: 1)() > 1:
        return gymnasium.spaces.MultiDiscrete(np.asarray(counts))
    if (count := getattr(space, "n", None)) is not None:
        return gymnasium.spaces.Discrete(int(count))
    if getattr(space, "low", None) is None:
        raise UsageError(f"actions of a {type(inner).__name__} cannot be tried", hint="bounded or discrete actions")
    low, high = (np.asarray(end.numpy(), dtype=np.float32) for end in (space.low, space.high))
    return gymnasium.spaces.Box(low, high, dtype=np.float32)
