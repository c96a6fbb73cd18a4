"""rl-zoo: the environment's section of hyperparams/<algo>.yml, and `-params key:value`.

Schedules stay what they are: `lin_0.001` becomes `lin_0.0003`. Arguments of the policy are one Python expression in
quotes. What follows `-params key:` is evaluated as Python, so text needs quotes inside the shell's.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.expression import edit_expression, single_quoted
from rlclinic.prescriptions.syntax.nesting import nested
from rlclinic.prescriptions.syntax.sb3_names import IMPOSSIBLE, KEYS, activation, normalisation, temperature, value_clip
from rlclinic.prescriptions.syntax.spelling import number_text, python_text, yaml_text

SCHEDULED = ("learning_rate", "clip_range", "clip_range_vf")
RANGES = ("clip_range", "clip_range_vf")
OPTIONS = "policy_kwargs"
LINEAR = "lin_"


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    if after.kind == "linear" and after.final:
        raise CannotWrite(f"rl-zoo's linear schedule ends at 0, not at {after.final:g}")
    if after.kind not in ("linear", "constant"):
        raise CannotWrite(f"rl-zoo knows constant and linear learning rates, not {after.kind!r}")
    return [Assignment("learning_rate", _spelled(before), _spelled(after))]


def _spelled(rate: Rate) -> object:
    if rate.kind != "linear" or rate.start is None:
        return rate.start
    return f"{LINEAR}{number_text(rate.start)}"


def _normalise(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    state = normalisation(run, wanted)
    values = set(state.values())
    setting = run.config.native.get("normalize")
    value: object = next(iter(values)) if len(values) == 1 else python_text(state)
    return [Assignment("normalize", setting.value if setting is not None else None, value)]


def _noise(run: Run, wanted: Mapping[str, object]) -> Sequence[Assignment]:
    value = wanted["action_noise"]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise CannotWrite(f"rl-zoo wants the spread of the action noise as a number, not {value!r}")
    known = {key: setting.value for key in ("noise_type", "noise_std") if (setting := run.config.native.get(key))}
    kind = [] if known.get("noise_type") else [Assignment("noise_type", None, "normal")]
    return [*kind, Assignment("noise_std", known.get("noise_std"), value)]


def _keep_schedule(run: Run, assignment: Assignment) -> Assignment:
    """Ranges that fall linearly go on doing so."""
    setting = run.config.native.get(assignment.key)
    was = setting.value if setting is not None else None
    number = isinstance(assignment.after, int | float) and not isinstance(assignment.after, bool)
    if assignment.key not in RANGES or not number or not str(was).startswith(LINEAR):
        return assignment
    assert isinstance(assignment.after, int | float)
    return Assignment(assignment.key, was, f"{LINEAR}{number_text(assignment.after)}")


NAMES = Names(
    keys={**KEYS, "total_steps": "n_timesteps"},
    computed={
        "net_arch": "the network is an argument of the policy",
        "total_timesteps": "the key is n_timesteps",
        "clip_range_initialvalue": "the key is clip_range",
        "lr": "the key is learning_rate",
    },
    impossible={
        **IMPOSSIBLE,
        "eval_freq": "rl-zoo takes --eval-freq on the command line, not as a hyperparameter",
        "eval_episodes": "rl-zoo takes --eval-episodes on the command line, not as a hyperparameter",
        "seed": "rl-zoo takes --seed on the command line, not as a hyperparameter",
        "reward_clip": 'rl-zoo clips rewards only through normalize: "dict(clip_reward=...)"',
    },
    values={"activation": activation},
    groups={
        ("ent_coef", "autotune_alpha"): temperature,
        ("clip_range_vf", "clip_value_loss"): value_clip,
        ("normalize_obs", "normalize_reward"): _normalise,
        ("action_noise",): _noise,
    },
    rate=_rate,
    finish=_keep_schedule,
)


def write_yaml(run: Run, assignments: Sequence[Assignment]) -> str:
    """The section of the environment."""
    values = _values(run, assignments)
    lines = [f"  {key}: {_quoted(value) if key == OPTIONS else yaml_text(value)}" for key, value in values.items()]
    return "\n".join([f"{run.environment or '<environment>'}:", *lines])


def write_flags(run: Run, assignments: Sequence[Assignment]) -> str:
    """Hyperparameters on the command line."""
    parts = [f"{key}:{_evaluated(key, value)}" for key, value in _values(run, assignments).items()]
    return "-params " + " ".join(shlex.quote(part) for part in parts)


def refuses(run: Run, assignment: Assignment) -> str:
    """The zoo wraps these keys into schedules and accepts numbers and `lin_` only."""
    if assignment.key in SCHEDULED and assignment.after is None:
        return f"rl-zoo does not accept null for {assignment.key}; leave the key out"
    return ""


def _values(run: Run, assignments: Sequence[Assignment]) -> dict[str, object]:
    values = nested(assignments)
    if OPTIONS in values:
        values[OPTIONS] = _merged(run, values[OPTIONS])
    return values


def _merged(run: Run, wanted: object) -> str:
    """The user's own expression with the new arguments, as one expression."""
    assert isinstance(wanted, dict)
    setting = run.config.native.get(OPTIONS)
    own = setting.value if setting is not None and isinstance(setting.value, str) else "dict()"
    for path, value in _leaves(wanted):
        own = edit_expression(own.strip(), path, value)
    return own


def _leaves(tree: Mapping[str, object], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _quoted(expression: object) -> str:
    text = single_quoted(str(expression))
    if "\\" in text or "\n" in text:
        raise CannotWrite("the expression of policy_kwargs has escapes or several lines; edit it by hand")
    return f'"{text}"'


def _evaluated(key: str, value: object) -> str:
    return single_quoted(str(value)) if key == OPTIONS else python_text(value)


YAML = Dialect("rl-zoo-yaml", "rl-zoo: hyperparams/<algo>.yml", NAMES, write_yaml, refuses=refuses)
FLAGS = Dialect("rl-zoo-flags", "rl-zoo: -params", NAMES, write_flags, refuses=refuses)
