"""gymnasium-solver: `--override key=value`, and the variant of a YAML file for what flags cannot say.

Flags know plain decimals, whole numbers and true or false; everything else stays text there. Schedules, null and lists
need the YAML file.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.nesting import nested, yaml_block
from rlclinic.prescriptions.syntax.spelling import decimal_text

# Hidden layers of the presets; there is no other way to choose a network.
MODELS = {(64,): "mlp_tiny", (128, 128): "mlp_small", (256, 256): "mlp_medium", (512, 512): "mlp_large"}
NO_SCHEDULE = "a schedule cannot be given as a flag"
ADVANTAGES = {True: "batch", False: "off"}


def _model(value: object) -> object:
    if isinstance(value, str):
        return value
    layers = tuple(value) if isinstance(value, list | tuple) else ()
    if layers not in MODELS:
        known = ", ".join(f"{list(layers)} ({name})" for layers, name in MODELS.items())
        raise CannotWrite(f"gymnasium-solver has no model with the layers {list(layers)}; it has {known}")
    return MODELS[layers]


def _advantages(value: object) -> object:
    return ADVANTAGES[value] if isinstance(value, bool) else value


def _value_clip(value: object) -> object:
    if not isinstance(value, int | float) or not 0 < value < 1:
        raise CannotWrite(f"gymnasium-solver wants 0 < clip_range_vf < 1, not {value!r}; 0.99 comes nearest to none")
    return value


def _rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """`policy_lr` as a mapping with start and end; what else the run's schedule had is kept."""
    native = run.config.native
    known = {
        part: native[f"policy_lr_schedule_{name}"].value
        for part, name in (("from", "start"), ("to", "end"), ("warmup", "warmup"))
        if f"policy_lr_schedule_{name}" in native
    }
    if after.kind == "constant":
        return [Assignment("policy_lr", _mapping(before, known), after.start)]
    return [Assignment("policy_lr", _mapping(before, known), _mapping(after, known))]


def _mapping(rate: Rate, known: dict[str, object]) -> object:
    if rate.kind == "constant":
        return rate.start
    kind = {} if rate.kind == "linear" else {"schedule": rate.kind}
    defaults = {"from": 0.0, "to": 1.0, "warmup": 0.0}
    kept = {part: value for part, value in known.items() if value is not None and value != defaults[part]}
    return {"start": rate.start, "end": rate.final, **kept, **kind}


NAMES = Names(
    keys={"learning_rate": "policy_lr"},
    always={"net_arch": "model_id"},
    impossible={
        "normalize_reward": "gymnasium-solver does not normalise rewards; scale them with an environment wrapper",
        "reward_scale": "gymnasium-solver has no reward scale; scale rewards with an environment wrapper",
        "log_std_init": "gymnasium-solver's policies choose among actions and have no spread",
        "activation": "the networks of gymnasium-solver all have relu",
        "learning_rate_critic": "gymnasium-solver has one learning rate for policy and critic (policy_lr)",
        "clip_value_loss": "gymnasium-solver always clips the value loss; clip_range_vf 0.99 comes nearest to none",
        "gae_lambda@REINFORCE": "REINFORCE has no gae_lambda in gymnasium-solver",
        "vf_coef@REINFORCE": "REINFORCE has no vf_coef in gymnasium-solver",
        "clip_range@REINFORCE": "REINFORCE has no clip_range in gymnasium-solver",
    },
    values={"net_arch": _model, "normalize_advantage": _advantages, "clip_range_vf": _value_clip},
    rate=_rate,
)


def write_yaml(run: Run, assignments: Sequence[Assignment]) -> str:
    """The lines of the variant."""
    environment = run.environment.replace("/", "-") or "<environment>"
    head = f"# in the variant of config/environments/{environment}.yaml that was trained"
    return f"{head}\n{yaml_block(nested(assignments))}"


def write_flags(run: Run, assignments: Sequence[Assignment]) -> str:
    """Flags of train.py."""
    return " ".join(f"--override {item.key}={_flag(item.after)}" for item in assignments)


def refuses_flag(run: Run, assignment: Assignment) -> str:
    """Flags are set without being resolved, so anything but a plain scalar would arrive as text."""
    value = assignment.after
    if isinstance(value, dict):
        return NO_SCHEDULE
    if isinstance(value, bool | int | float) or (isinstance(value, str) and value):
        return ""
    return f"{assignment.key} = {value!r} would arrive as text; it needs the YAML file"


def _flag(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return decimal_text(value) if isinstance(value, int | float) else str(value)


FLAGS = Dialect(
    "gymnasium-solver-flags", "gymnasium-solver: flags of train.py", NAMES, write_flags, refuses=refuses_flag
)
YAML = Dialect("gymnasium-solver-yaml", "gymnasium-solver: config/environments/*.yaml", NAMES, write_yaml)
