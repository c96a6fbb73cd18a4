"""Stable-Baselines3: keyword arguments of the constructor, and the calls around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Code, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.generic import worded_rate, write_yaml
from rlclinic.prescriptions.syntax.nesting import nested
from rlclinic.prescriptions.syntax.sb3_names import (
    CLASSES,
    IMPOSSIBLE,
    KEYS,
    activation,
    normalisation,
    temperature,
    value_clip,
)
from rlclinic.prescriptions.syntax.spelling import number_text, python_text

# Keys that are arguments of something else than the algorithm's constructor.
CALLS = {
    "total_timesteps": "model.learn",
    "n_timesteps": "model.learn",
    "n_envs": "make_vec_env",
    "frame_stack": "VecFrameStack",
    "eval_freq": "EvalCallback",
    "n_eval_episodes": "EvalCallback",
    "max_episode_steps": "gymnasium.make",
    "vec_normalize": "VecNormalize",
}
ARGUMENTS = {"n_timesteps": "total_timesteps", "frame_stack": "n_stack"}
OPTIONS = "policy_kwargs"
FILE_GROUPS = (("ent_coef", "autotune_alpha"), ("clip_range_vf", "clip_value_loss"))


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """SB3 calls the rate with the share of the budget that remains, from 1 down to 0."""
    value: object = after.start
    if after.kind == "linear":
        start = number_text(after.start or 0.0)
        falls = f"{start} * remaining"
        if after.final:
            end = number_text(after.final)
            falls = f"{end} + ({start} - {end}) * remaining"
        value = Code(f"lambda remaining: {falls}")
    elif after.kind != "constant":
        raise CannotWrite(
            f"the learning rate follows a schedule of your own ({after.kind}); change it where it is made"
        )
    return [Assignment("learning_rate", before.start if before.kind == "constant" else None, value)]


def _normalise(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    state: dict[str, object] = {**normalisation(run, wanted)}
    gamma = run.config.number("gamma")
    if state["norm_reward"] and gamma is not None:
        # Rewards are divided by the spread of returns that are discounted like the trainer's.
        state["gamma"] = gamma
    return [Assignment("vec_normalize", None, state)]


def _noise(value: object) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    shape = "env.action_space.shape"
    return Code(f"NormalActionNoise(np.zeros({shape}), np.full({shape}, {number_text(value)}))")


NAMES = Names(
    keys={**KEYS, "max_episode_steps": "max_episode_steps", "total_steps": "total_timesteps"},
    computed={
        "net_arch": "the network is an argument of the policy",
        "noise_std": "SB3 takes a noise object",
        "lr": "the argument is learning_rate",
    },
    impossible=IMPOSSIBLE,
    values={"activation": activation, "action_noise": _noise},
    groups={
        ("ent_coef", "autotune_alpha"): temperature,
        ("clip_range_vf", "clip_value_loss"): value_clip,
        ("normalize_obs", "normalize_reward"): _normalise,
    },
    rate=_rate,
)


# Config files of scripts of the user's own hold the same arguments, under names of their own, and often a word for the
# schedule.
FILE_NAMES = replace(NAMES, computed={}, groups={key: NAMES.groups[key] for key in FILE_GROUPS}, rate=worded_rate)


def write(run: Run, assignments: Sequence[Assignment]) -> str:
    """One line per call: `PPO(..., learning_rate=0.0003)`."""
    constructor = CLASSES.get(run.algorithm, run.algorithm) or "Model"
    calls: dict[str, dict[str, object]] = {}
    for key, value in nested(assignments).items():
        call = CALLS.get(key, constructor)
        options = value if key == "vec_normalize" and isinstance(value, dict) else {ARGUMENTS.get(key, key): value}
        calls.setdefault(call, {}).update(options)
    return "\n".join(_call(run, name, options) for name, options in calls.items())


def refuses_new_key(run: Run, assignment: Assignment) -> str:
    """What a script of the user's own does not have in its config it may not read, and code stands in scripts."""
    if isinstance(assignment.after, Code):
        return f"{assignment.key} needs code, not a value: {assignment.after}"
    return "" if assignment.key in run.config.native else f"the config has no {assignment.key}"


def _call(run: Run, name: str, options: Mapping[str, object]) -> str:
    inside = ", ".join(f"{key}={python_text(value)}" for key, value in options.items())
    if name == "VecNormalize":
        return f"env = VecNormalize(env, {inside})"
    others = [key for key in run.config.native if key.startswith(f"{OPTIONS}.")]
    note = f"  # beside your other {OPTIONS}" if OPTIONS in options and others else ""
    return f"{name}(..., {inside}){note}"


DIALECT = Dialect("sb3-python", "Stable-Baselines3: Python", NAMES, write)
FILE = Dialect(
    "sb3-config", "Stable-Baselines3: a config file of the user's own", FILE_NAMES, write_yaml, refuses=refuses_new_key
)
