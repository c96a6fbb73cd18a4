"""Stable-Baselines3 and sb3-contrib behind the probe protocol: `sb3:PPO`, or any subclass of an SB3 algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from rlclinic.model.errors import UsageError
from rlclinic.probes.protocol import EnvFn, Observation, UnknownSettings, UnsupportedSpace

try:
    import stable_baselines3
    import torch
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.noise import NormalActionNoise
    from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
    from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize
except ImportError as error:
    raise UsageError("the sb3 adapter needs stable-baselines3", hint="pip install 'rlclinic[train]'") from error

from rlclinic.probes.adapters import sb3_contracts
from rlclinic.probes.adapters.names import SHARED

NEVER = 10**9
RENAMED: Mapping[str, str] = {**SHARED, "n_step_return": "n_steps"}
"""Setting -> argument of the algorithm."""
OWN = frozenset(
    {"hidden_sizes", "n_envs", "normalize_observations", "normalize_rewards", "frame_stack", "recurrent", "train_every",
     "exploration", "action_noise"}
)  # fmt: skip
"""Settings that are more than one renamed argument."""
EXPLORERS = ("DQN", "QRDQN")
TEMPERED = ("SAC", "TQC", "CrossQ")
NOISY = ("TD3", "DDPG")
ROLLOUT_ONLY = ("n_steps", "entropy_coefficient")
REPLAY_ONLY = ("n_step_return", "temperature", "target_entropy")


def make_trainer_of(name: str) -> SB3Factory:
    """The factory of an algorithm of SB3 or its contrib package."""
    name = name.upper() if name.islower() else name
    found = getattr(stable_baselines3, name, None)
    if found is None:
        try:
            import sb3_contrib
        except ImportError as error:
            raise UsageError(f"SB3 has no {name}", hint="contrib algorithms need pip install sb3-contrib") from error
        found = getattr(sb3_contrib, name, None)
    if not (isinstance(found, type) and issubclass(found, BaseAlgorithm)):
        raise UsageError(
            f"SB3 has no algorithm {name!r}", hint="PPO, A2C, DQN, SAC, TD3, TRPO, QRDQN, TQC, RecurrentPPO"
        )
    return SB3Factory(found)


class SB3Factory:
    """Makes trainers of one algorithm class."""

    def __init__(self, algorithm: type[Any]) -> None:
        self.algorithm = algorithm
        self.family = "off-policy" if issubclass(algorithm, OffPolicyAlgorithm) else "on-policy"
        self._names = [base.__name__ for base in algorithm.__mro__]
        self._arguments = _arguments(algorithm)

    def __call__(self, env_fn: EnvFn, *, seed: int, gamma: float, **settings: Any) -> SB3Trainer:
        """A trainer with a tiny network on the CPU."""
        unknown = [name for name in settings if not self._knows(name)]
        if settings.get("recurrent") and "RecurrentPPO" not in self._names:
            unknown.append("recurrent")
        if unknown:
            raise UnknownSettings(unknown)
        torch.set_num_threads(1)
        settings.pop("recurrent", None)
        env = DummyVecEnv([lambda: Monitor(env_fn()) for _ in range(int(settings.pop("n_envs", 1)))])
        if settings.pop("normalize_observations", False) | settings.get("normalize_rewards", False):
            env = VecNormalize(env, norm_reward=bool(settings.get("normalize_rewards")), gamma=gamma)
        settings.pop("normalize_rewards", None)
        stack = int(settings.pop("frame_stack", 1))
        if stack > 1:
            env = VecFrameStack(env, n_stack=stack)
        arguments = self._translated(settings, env)
        try:
            model = self.algorithm(
                self._policy(), env, gamma=gamma, seed=seed, device="cpu", **self._allowed(arguments)
            )
        except AssertionError as error:
            if "action space" in str(error) or "spaces as action" in str(error):
                raise UnsupportedSpace(str(error)) from error
            raise
        return trainer_class(model)(model, stack)

    def _policy(self) -> str:
        return "MlpLstmPolicy" if "RecurrentPPO" in self._names else "MlpPolicy"

    def _knows(self, name: str) -> bool:
        if name in (ROLLOUT_ONLY if self.family == "off-policy" else REPLAY_ONLY):
            return False
        if name == "exploration":
            return any(base in EXPLORERS for base in self._names)
        if name == "action_noise":
            return any(base in NOISY for base in self._names)
        if name == "train_every":
            return self.family == "off-policy"
        if name in ("temperature", "target_entropy"):
            return any(base in TEMPERED for base in self._names)
        return name in OWN or RENAMED.get(name) in self._arguments

    def _translated(self, settings: Mapping[str, Any], env: Any) -> dict[str, Any]:
        arguments: dict[str, Any] = {RENAMED[name]: value for name, value in settings.items() if name in RENAMED}
        arguments["policy_kwargs"] = {"net_arch": list(settings.get("hidden_sizes", (32,)))}
        if "train_every" in settings:
            # One gradient step per so many steps of all environments together.
            steps = int(settings["train_every"])
            arguments["train_freq"] = max(1, steps // env.num_envs)
        if "exploration" in settings:
            arguments["exploration_initial_eps"] = arguments["exploration_final_eps"] = settings["exploration"]
            arguments["target_update_interval"] = env.num_envs
        if "action_noise" in settings:
            size = env.action_space.shape or (1,)
            arguments["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, settings["action_noise"]))
        if self.family == "off-policy":
            arguments["replay_buffer_kwargs"] = None
        if "target_entropy" in arguments and arguments.get("ent_coef") != "auto":
            del arguments["target_entropy"]
        if "TRPO" in self._names:
            arguments.pop("vf_coef", None)
        return arguments

    def _allowed(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in arguments.items() if name in self._arguments}


class SB3Trainer:
    """What every algorithm of SB3 offers."""

    def __init__(self, model: Any, stack: int = 1) -> None:
        self.model = model
        self._stack = stack
        self._frames: list[Any] = []
        self._hidden: Any = None
        self._begins = True

    def train(self, env_steps: int) -> None:
        """Go on for so many steps."""
        self.model.learn(env_steps, reset_num_timesteps=self.model.num_timesteps == 0, log_interval=NEVER)

    def act(self, obs: Observation) -> Any:
        """The deterministic action as the environment would receive it."""
        action, self._hidden = self.model.predict(
            self.network_input(self._stacked(obs)), state=self._hidden, episode_start=np.array([self._begins]),
            deterministic=True,
        )  # fmt: skip
        if not hasattr(self.model.policy, "lstm_actor"):
            self._hidden = None
        self._begins = False
        return action

    def begin_episode(self) -> None:
        """Forget hidden states and stacked frames."""
        self._frames, self._hidden, self._begins = [], None, True

    def network_input(self, obs: Observation) -> Any:
        """The observation as VecNormalize hands it on."""
        normaliser = self.model.get_vec_normalize_env()
        return obs if normaliser is None or not normaliser.norm_obs else normaliser.normalize_obs(obs)

    def logged(self) -> Mapping[str, float]:
        """Means over the episodes that SB3 itself logs, and its step counter."""
        episodes = list(self.model.ep_info_buffer or ())
        found = {"env_steps": float(self.model.num_timesteps)}
        if episodes:
            found["return"] = float(np.mean([episode["r"] for episode in episodes]))
            found["length"] = float(np.mean([episode["l"] for episode in episodes]))
        return found

    def _stacked(self, obs: Observation) -> Any:
        if self._stack == 1:
            return obs
        self._frames = [*self._frames, obs][-self._stack :]
        missing = self._stack - len(self._frames)
        return np.concatenate([*[np.zeros_like(obs)] * missing, *self._frames])

    def _tensor(self, obs: Any) -> Any:
        return torch.as_tensor(np.atleast_2d(self.network_input(np.asarray(obs, np.float32))), dtype=torch.float32)

    def _reward_unit(self) -> float:
        normaliser = self.model.get_vec_normalize_env()
        if normaliser is None or not normaliser.norm_reward:
            return 1.0
        return float(np.sqrt(normaliser.ret_rms.var + normaliser.epsilon))


class ActorCritic(SB3Trainer):
    """PPO, A2C, TRPO."""

    def value(self, obs: Observation) -> float:
        """V of the critic."""
        with torch.no_grad():
            return float(self.model.policy.predict_values(self._tensor(obs))) * self._reward_unit()

    def action_probabilities(self, obs: Observation) -> Any:
        """Probabilities of a categorical policy."""
        with torch.no_grad():
            return self.model.policy.get_distribution(self._tensor(obs)).distribution.probs.numpy()[0]

    def log_prob(self, obs: Observation, actions: Any) -> Any:
        """Log-density of actions."""
        with torch.no_grad():
            spread = self._tensor(obs).expand(len(actions), -1)
            return self.model.policy.evaluate_actions(spread, torch.as_tensor(actions, dtype=torch.float32))[1].numpy()

    def advantages(self, batch: Mapping[str, Any]) -> Any:
        """Advantages by SB3's own rollout buffer."""
        return sb3_contracts.advantages(self.model, batch)

    def log_ratio(self, batch: Mapping[str, Any]) -> Any:
        """The log ratio of SB3's own rollout and update code."""
        return sb3_contracts.log_ratio(self.model, self._tensor(batch["observations"]))

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Gradients as the optimiser would receive them."""
        return sb3_contracts.on_policy_losses(self.model, batch)


class QLearner(SB3Trainer):
    """DQN and QRDQN, read through the target network: the same fixed point with less jitter."""

    def q(self, obs: Observation, action: Any = None) -> Any:
        """Q of all actions, or of one."""
        quantiles = hasattr(self.model, "quantile_net_target")
        with torch.no_grad():
            net = self.model.quantile_net_target if quantiles else self.model.q_net_target
            values = net(self._tensor(obs))
        values = (values.mean(dim=1) if quantiles else values).numpy()[0] * self._reward_unit()
        return values if action is None else values[int(action)]

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Gradients as the optimisers would receive them."""
        return sb3_contracts.off_policy_losses(self.model, batch)

    def targets(self) -> Mapping[str, float]:
        """One target update."""
        return sb3_contracts.q_targets(self.model)


class Continuous(SB3Trainer):
    """SAC, TQC, TD3 and DDPG."""

    def q(self, obs: Observation, action: Any = None) -> float:
        """The smallest Q of the target critics (their mean for distributional ones)."""
        if action is None:
            action = self.act(obs)
        scaled = torch.as_tensor(np.atleast_2d(self.model.policy.scale_action(np.asarray(action, np.float32))))
        with torch.no_grad():
            values = self.model.critic_target(self._tensor(obs), scaled)
        found = min(float(value) for value in values) if isinstance(values, tuple) else float(values.mean())
        return found * self._reward_unit()

    def losses(self, batch: Mapping[str, Any]) -> Mapping[str, Mapping[str, float]]:
        """Gradients as the optimisers would receive them."""
        return sb3_contracts.off_policy_losses(self.model, batch)

    def targets(self) -> Mapping[str, float]:
        """One target update."""
        return sb3_contracts.continuous_targets(self.model)


class Tempered(Continuous):
    """SAC and TQC."""

    def temperature(self) -> float:
        """alpha."""
        model = self.model
        tensor = model.ent_coef_tensor if model.ent_coef_optimizer is None else model.log_ent_coef.exp()
        return float(tensor)

    def log_prob(self, obs: Observation, actions: Any) -> Any:
        """Log-density of actions in the box."""
        return sb3_contracts.squashed_log_prob(self.model, self._tensor(obs), actions)


def _arguments(algorithm: type[Any]) -> set[str]:
    """Names that the constructor takes; a subclass with **settings hands the rest on to its base."""
    found: set[str] = set()
    for base in algorithm.__mro__:
        constructor = base.__dict__.get("__init__")
        if constructor is None:
            continue
        parameters = signature(constructor).parameters
        found |= set(parameters)
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            return found
    return found


def trainer_class(model: Any) -> type[SB3Trainer]:
    """Which of the above a model is."""
    names = {base.__name__ for base in type(model).__mro__}
    if names & set(EXPLORERS):
        return QLearner
    if names & set(TEMPERED):
        return Tempered
    if isinstance(model, OffPolicyAlgorithm):
        return Continuous
    return SB3Trainer if "RecurrentPPO" in names else ActorCritic
