"""Frameworks without a syntax file of their own: flags, keyword arguments, or a snippet of the config's own format."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax.assignment import Assignment, CannotWrite, Dialect, Names, Rate
from rlclinic.prescriptions.syntax.nesting import nested, yaml_block
from rlclinic.prescriptions.syntax.spelling import flag_text, json_text, python_text, toml_text
from rlclinic.prescriptions.syntax.translate import native_key

# What a sampled-group config of TRL takes; older keys of its tables belong to trainers that are gone.
TRL_ARGUMENTS = frozenset(
    {
        "learning_rate", "lr_scheduler_type", "warmup_ratio", "warmup_steps", "optim", "adam_epsilon", "weight_decay",
        "max_grad_norm", "seed", "max_steps", "num_train_epochs", "eval_steps", "num_generations", "num_iterations",
        "generation_batch_size", "max_completion_length", "max_prompt_length", "temperature", "top_p", "top_k", "beta",
        "epsilon", "epsilon_high", "loss_type", "scale_rewards", "mask_truncated_completions",
        "vllm_importance_sampling_correction",
    }
)  # fmt: skip
D3RLPY_PREFIX = "config.params."
# Config classes that are not written as the algorithm in capitals.
CLASSES = {
    "DISCRETEBCQ": "DiscreteBCQ",
    "DISCRETECQL": "DiscreteCQL",
    "DISCRETESAC": "DiscreteSAC",
    "TD3PLUSBC": "TD3PlusBC",
    "QRDQN": "DQN",
}


def worded_rate(run: Run, before: Rate, after: Rate) -> Sequence[Assignment]:
    """Frameworks that name their schedule with a word, `constant` and `linear` among them."""
    is_new_course = (before.kind, before.final) != (after.kind, after.final)
    if is_new_course and (after.kind not in ("constant", "linear") or after.final):
        raise CannotWrite(f"{run.framework} has no learning rate that is {after.kind} and ends at {after.final:g}")
    pairs = (("learning_rate", before.start, after.start), ("learning_rate_schedule", before.kind, after.kind))
    changed = [(name, was, value) for name, was, value in pairs if was != value]
    keys = {name: native_key(run, name, Names()) for name, _, _ in changed}
    return [Assignment(keys[name] or name, was, value) for name, was, value in changed]


def _without_prefix(run: Run, assignment: Assignment) -> Assignment:
    return Assignment(assignment.key.removeprefix(D3RLPY_PREFIX), assignment.before, assignment.after)


NAMES = Names()
WORDED_NAMES = Names(rate=worded_rate)
D3RLPY_NAMES = Names(finish=_without_prefix)


def write_flags(run: Run, assignments: Sequence[Assignment]) -> str:
    """`--key value`; a switch stands alone."""
    return " ".join(
        f"--{item.key}" if item.after is True else f"--{item.key} {flag_text(item.after)}" for item in assignments
    )


def write_flags_joined(run: Run, assignments: Sequence[Assignment]) -> str:
    """`--key=value`, as Sample Factory wants it."""
    return " ".join(f"--{item.key}={flag_text(item.after)}" for item in assignments)


def write_python(run: Run, assignments: Sequence[Assignment]) -> str:
    """Keyword arguments of the config class."""
    inside = ", ".join(f"{key}={python_text(value)}" for key, value in nested(assignments).items())
    return f"{CLASSES.get(run.algorithm, run.algorithm)}Config(..., {inside})"


def write_yaml(run: Run, assignments: Sequence[Assignment]) -> str:
    """A snippet of YAML."""
    return yaml_block(nested(assignments))


def write_json(run: Run, assignments: Sequence[Assignment]) -> str:
    """A snippet of JSON."""
    return json_text(nested(assignments))


def write_toml(run: Run, assignments: Sequence[Assignment]) -> str:
    """Dotted keys of TOML."""
    return "\n".join(f"{item.key} = {toml_text(item.after)}" for item in assignments)


def refuses_off_switch(run: Run, assignment: Assignment) -> str:
    """A flag that is only there or not cannot be switched off on a command line that sets it."""
    return f"leave --{assignment.key} out of the command" if assignment.after in (False, None) else ""


def refuses_unknown_argument(run: Run, assignment: Assignment) -> str:
    """An argument that the class does not take would stop the script."""
    if run.algorithm in ("GRPO", "RLOO") and assignment.key not in TRL_ARGUMENTS:
        return f"TRL's {run.algorithm}Config has no {assignment.key}"
    return ""


def refuses_nested(run: Run, assignment: Assignment) -> str:
    """Parts of d3rlpy's configs are objects; only code can build them."""
    return f"{assignment.key} is part of an object; change it in the script" if "." in assignment.key else ""


FLAGS = Dialect("flags", "command-line flags", NAMES, write_flags, refuses=refuses_off_switch)
FLAGS_JOINED = Dialect("flags-joined", "command-line flags with =", NAMES, write_flags_joined)
TRL = Dialect("trl-python", "TRL: Python", WORDED_NAMES, write_python, refuses=refuses_unknown_argument)
D3RLPY = Dialect("d3rlpy-python", "d3rlpy: Python", D3RLPY_NAMES, write_python, refuses=refuses_nested)
MLAGENTS = Dialect("mlagents-yaml", "ML-Agents: YAML", WORDED_NAMES, write_yaml)
YAML = Dialect("yaml", "YAML", NAMES, write_yaml)
JSON = Dialect("json", "JSON", NAMES, write_json)
TOML = Dialect("toml", "TOML", NAMES, write_toml)
