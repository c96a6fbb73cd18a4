"""RLlib: the methods of an AlgorithmConfig, or a dict of settings for configs of before that.

The budget is no setting of the algorithm: it is the stop condition of the tuner that runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.generic import write_json
from rlclinic.prescriptions.syntax.nesting import nested
from rlclinic.prescriptions.syntax.spelling import json_text, python_text

# Settings whose method is not `training`.
METHODS = {
    "rollout_fragment_length": "env_runners",
    "num_env_runners": "env_runners",
    "num_envs_per_env_runner": "env_runners",
    "observation_filter": "env_runners",
    "exploration_config": "env_runners",
    "clip_rewards": "environment",
    "env": "environment",
    "evaluation_duration": "evaluation",
    "seed": "debugging",
    "model_config": "rl_module",
    "stop": "RunConfig",
}
# Methods that do not belong to the AlgorithmConfig.
OWNERS = {"RunConfig": "tune"}
# Keys of result files that Python spells otherwise.
PYTHON_KEYS = {"lambda": "lambda_"}
# Of the new API stack; configs of the old stack have a `model` and no `model_config`.
SIGNS_OF_NEW_STACK = ("enable_rl_module_and_learner", "_enable_rl_module_api", "_enable_new_api_stack")
# Algorithms that must have `lr` None on the new stack: actor and critic have rates of their own.
ACTOR_CRITICS = ("SAC", "CQL")
EPSILON = ("exploration_initial", "exploration_final", "exploration_steps", "exploration_fraction")
# The defaults of RLlib's DQN: from 1 to 0.05 within 10,000 steps.
EPSILON_ENDS = {"exploration_initial": 1.0, "exploration_final": 0.05}
EPSILON_STEPS = 10_000
NETWORK = {"net_arch": "model_config.fcnet_hiddens", "activation": "model_config.fcnet_activation"}
# Sections of the network: of the old stack and of the new one.
OLD_MODEL, NEW_MODEL = "model.", "model_config."
# How the tuner counts env steps: on the new stack and on the old one.
NEW_STEPS, OLD_STEPS = "stop.num_env_steps_sampled_lifetime", "stop.timesteps_total"


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """A schedule is a list of [step, rate]; the old stack has a key of its own for it."""
    key = "actor_lr" if run.algorithm in ACTOR_CRITICS else "lr"
    was = before.start if before.kind == "constant" else None
    if after.kind == "constant":
        return [Assignment(key, was, after.start)]
    if after.kind != "linear":
        raise CannotWrite(f"RLlib has piecewise linear learning rates, not {after.kind!r}")
    if run.budget is None:
        raise CannotWrite("a learning rate that falls needs the budget in steps, which is not known")
    return [Assignment(key, was, [[0, after.start], [int(run.budget), after.final]])]


def _exploration(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    """Epsilon as a list of [step, epsilon]; the old stack has a dict of its own for exploration."""
    values = {name: wanted.get(name, run.config.get(name)) for name in EPSILON}
    start, end = (values[name] if values[name] is not None else usual for name, usual in EPSILON_ENDS.items())
    steps = values["exploration_steps"]
    if isinstance(wanted.get("exploration_fraction"), int | float):
        if run.budget is None:
            raise CannotWrite("an exploration that is a share of the run needs the budget in steps, which is not known")
        steps = round(float(str(wanted["exploration_fraction"])) * run.budget)
    steps = int(steps) if isinstance(steps, int | float) else EPSILON_STEPS
    if is_new_stack(run):
        return [Assignment("epsilon", None, [[0, start], [steps, end]])]
    pairs = (("initial_epsilon", "exploration_initial", start), ("final_epsilon", "exploration_final", end))
    changed = [(key, value) for key, name, value in pairs if name in wanted]
    if {"exploration_steps", "exploration_fraction"} & set(wanted):
        changed.append(("epsilon_timesteps", steps))
    return [Assignment(f"exploration_config.{key}", None, value) for key, value in changed]


def _filter(value: object) -> object:
    return value if isinstance(value, str) else "MeanStdFilter" if value else "NoFilter"


def _kl(value: object) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise CannotWrite(f"RLlib's kl_target is a number, not {value!r}")
    return value


def _of_its_stack(run: Run, assignment: Assignment) -> Assignment:
    """Networks and budgets have other keys on the old stack."""
    key = assignment.key
    if key == NEW_STEPS and not is_new_stack(run):
        key = OLD_STEPS
    elif key.startswith(OLD_MODEL) and is_new_stack(run):
        key = NEW_MODEL + key.removeprefix(OLD_MODEL)
    elif key.startswith(NEW_MODEL) and not is_new_stack(run):
        key = OLD_MODEL + key.removeprefix(NEW_MODEL)
    return replace(assignment, key=key)


NAMES = Names(
    keys={
        **NETWORK,
        "total_steps": NEW_STEPS,
        "n_envs": "num_envs_per_env_runner",
        "rollout_size": "train_batch_size_per_learner",
        "batch_size@DQN": "train_batch_size_per_learner",
        **{f"batch_size@{name}": "train_batch_size_per_learner" for name in ACTOR_CRITICS},
        "batch_size": "minibatch_size",
        "buffer_size": "replay_buffer_config.capacity",
        "gae_lambda": "lambda",
        "learning_rate_critic": "critic_lr",
        **{f"ent_coef@{name}": "initial_alpha" for name in ACTOR_CRITICS},
    },
    always={f"learning_rate@{name}": "actor_lr" for name in ACTOR_CRITICS},
    impossible={
        "max_episode_steps": "RLlib takes the time limit from the environment",
        "normalize_reward": "RLlib has no reward normalisation; wrap the environment",
        "reward_scale": "RLlib has no reward scale; wrap the environment in gymnasium.wrappers.TransformReward",
        "log_std_init": "RLlib's default networks have no setting for the first spread; write an RLModule of your own",
        "normalize_advantage": "RLlib always normalises advantages",
        "learning_rate_critic@PPO": "RLlib's PPO has one learning rate",
        "policy_delay@SAC": "RLlib's SAC updates its actor with its critics",
        **{
            f"adam_epsilon@{name}": f"RLlib's {name} has no adam_epsilon"
            for name in ("PPO", "SAC", "CQL", "APPO", "IMPALA")
        },
    },
    values={"normalize_obs": _filter, "target_kl": _kl},
    groups={EPSILON: _exploration},
    rate=_rate,
    finish=_of_its_stack,
)


def write_python(run: Run, assignments: Sequence[Assignment]) -> str:
    """`config.training(lr=0.0003)`, one line per method; `tune.RunConfig(stop=...)` for the budget."""
    methods: dict[str, list[str]] = {}
    for key, value in nested(assignments).items():
        name = PYTHON_KEYS.get(key, key)
        literal = json_text(value) if isinstance(value, dict) and _is_plain(value) else python_text(value)
        methods.setdefault(METHODS.get(name, "training"), []).append(f"{name}={literal}")
    return "\n".join(
        f"{OWNERS.get(method, 'config')}.{method}({', '.join(options)})" for method, options in methods.items()
    )


def is_new_stack(run: Run) -> bool:
    """Whether the run was configured with an AlgorithmConfig; the newest Ray knows nothing else."""
    return not run.config.native or any(sign in run.config.native for sign in SIGNS_OF_NEW_STACK)


def refuses_shared_runners(run: Run, assignment: Assignment) -> str:
    """Environments are counted per runner, so a total cannot be set where there are several runners."""
    runners = run.config.native.get("num_env_runners")
    several = runners is not None and isinstance(runners.value, int) and runners.value > 1
    if assignment.key == "num_envs_per_env_runner" and several:
        return "with several env runners the number of environments is a product; set num_env_runners by hand"
    return ""


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(item) for item in value.values())
    return isinstance(value, int | float | str) and not isinstance(value, bool)


PYTHON = Dialect("rllib-python", "RLlib: AlgorithmConfig", NAMES, write_python, refuses=refuses_shared_runners)
DICT = Dialect("rllib-dict", "RLlib: config dict", NAMES, write_json, refuses=refuses_shared_runners)
