"""skrl: the YAML of its runner. Rollout algorithms count minibatches, the others size them.

Networks are lists of parts, one list per model; epsilon is an expression of the step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.generic import write_yaml
from rlclinic.prescriptions.syntax.spelling import number_text
from rlclinic.prescriptions.syntax.translate import native_key

ADAPTIVE = "KLAdaptiveLR"
ROLLOUT_ALGORITHMS = ("PPO", "RPO", "A2C", "TRPO")
PREPROCESSOR = "RunningStandardScaler"
NETWORK = re.compile(r"models\.(?P<role>\w+)\.network")
# Models that act; all others judge. A target must have the layers of what it follows.
ACTORS = ("policy", "target_policy", "q_network", "target_q_network")
NETWORKS = ("net_arch", "net_arch_critic")
EPSILON = ("exploration_initial", "exploration_final", "exploration_fraction", "exploration_steps")
EPSILON_KEY = "agent.exploration_scheduler"
# From 1 to 0.05 within a tenth of the run, as SB3's DQN does where nothing else is known.
EPSILON_DEFAULTS = {"exploration_initial": 1.0, "exploration_final": 0.05, "exploration_fraction": 0.1}


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """A scheduler is a class; only skrl's own one and none can be named without code."""
    rate = native_key(run, "learning_rate", Names()) or "agent.learning_rate"
    changed = [] if before.start == after.start else [Assignment(rate, before.start, after.start)]
    if before.kind == after.kind:
        return changed
    words = {"constant": None, "adaptive": ADAPTIVE, ADAPTIVE: ADAPTIVE}
    if after.kind not in words:
        raise CannotWrite(f"skrl's YAML names {ADAPTIVE} or no scheduler, not {after.kind!r}")
    course = native_key(run, "learning_rate_schedule", Names()) or "agent.learning_rate_scheduler"
    return [*changed, Assignment(course, run.config.get("learning_rate_schedule"), words[after.kind])]


def _off_is_zero(value: object) -> object:
    """0 switches the early stop off, and the clip of values."""
    return 0 if value is None else value


def _networks(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    """The same layers for every model of a kind."""
    found = []
    for key, setting in run.config.native.items():
        match = NETWORK.fullmatch(key)
        name = "net_arch" if match and match["role"] in ACTORS else "net_arch_critic"
        if match is None or name not in wanted:
            continue
        parts = setting.value
        if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
            raise CannotWrite(f"{key} has several parts; change the layers of each by hand")
        found.append(Assignment(key, parts, [{**parts[0], "layers": wanted[name]}]))
    if not found:
        raise CannotWrite("the config describes no network; change the layers in the script")
    return found


def _exploration(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    """Epsilon as an expression of `timestep` and `timesteps`, which count steps per environment; numbers before 2.0."""
    own = {name: run.config.settings[name] for name in wanted if name in run.config}
    if len(own) == len(wanted):
        return [Assignment(setting.native_key, setting.value, wanted[name]) for name, setting in own.items()]
    values = {name: wanted.get(name, run.config.get(name, EPSILON_DEFAULTS.get(name))) for name in EPSILON}
    start, end = (number_text(float(str(values[name]))) for name in EPSILON[:2])
    span = f"{number_text(float(str(values['exploration_fraction'])))} * timesteps"
    if values["exploration_steps"] is not None and "exploration_fraction" not in wanted:
        span = number_text(float(str(values["exploration_steps"])) / (run.config.number("n_envs") or 1.0))
    setting = run.config.native.get(EPSILON_KEY)
    falls = f"max({end}, {start} - ({start} - {end}) * timestep / ({span}))"
    return [Assignment(EPSILON_KEY, setting.value if setting is not None else None, falls)]


def _preprocessor(value: object) -> object:
    return value if isinstance(value, str) else PREPROCESSOR if value else None


NAMES = Names(
    keys={
        "target_kl": "agent.kl_threshold",
        "tau": "agent.polyak",
        "learning_rate_critic": "agent.critic_learning_rate",
        "exploration_fraction": EPSILON_KEY,
        "buffer_size": "memory.memory_size",
        "train_freq": "agent.update_interval",
        "target_update_interval": "agent.target_update_interval",
        "target_entropy": "agent.target_entropy",
        "autotune_alpha": "agent.learn_entropy",
        "ent_coef@SAC": "agent.initial_entropy_value",
    },
    computed={
        f"{key}@{name}": "skrl computes it from rollouts, num_envs and mini_batches"
        for key in ("agent.batch_size", "batch_size")
        for name in ROLLOUT_ALGORITHMS
    },
    impossible={
        "learning_rate_critic@PPO": "skrl's PPO has one learning rate",
        "max_grad_norm@DQN": "skrl's DQN does not clip gradients",
        **{
            f"{key}@{name}": f"skrl's {name} updates at every step"
            for key in ("train_freq", "target_update_interval")
            for name in ("SAC", "TD3", "DDPG")
        },
        "learning_rate_critic@DQN": "skrl's DQN has one network and one learning rate",
        "normalize_reward": "skrl does not normalise rewards; set rewards_shaper_scale",
        "adam_epsilon": "skrl has no setting for Adam's epsilon",
        "normalize_advantage": "skrl always normalises advantages",
    },
    values={"normalize_obs": _preprocessor, "target_kl": _off_is_zero, "clip_range_vf": _off_is_zero},
    groups={NETWORKS: _networks, EPSILON: _exploration},
    rate=_rate,
)


def refuses(run: Run, assignment: Assignment) -> str:
    """The threshold of the scheduler is no early stop and cannot be switched off."""
    if assignment.key.endswith("scheduler_kwargs.kl_threshold") and not assignment.after:
        return "the learning rate follows this threshold; change the scheduler instead"
    return ""


DIALECT = Dialect("skrl-yaml", "skrl: the agent's YAML", NAMES, write_yaml, refuses=refuses)
