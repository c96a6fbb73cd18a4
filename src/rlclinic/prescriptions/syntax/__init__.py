"""Changes in the user's own syntax: YAML, flags, Hydra overrides, Python. One file per dialect, one row here."""

from __future__ import annotations

from collections.abc import Sequence

from rlclinic.model.prescription import Change, Native
from rlclinic.model.run import Run
from rlclinic.prescriptions.syntax import (
    cleanrl,
    generic,
    gymnasium_solver,
    hydra,
    rl_zoo,
    rlclinic_flags,
    rllib,
    rsl_rl,
    sb3_python,
    skrl,
    spinningup,
)
from rlclinic.prescriptions.syntax.assignment import AlreadySo, Assignment, CannotWrite, Dialect
from rlclinic.prescriptions.syntax.translate import translate

# By framework, the most usual way first; the next is tried where a way cannot say a change.
DIALECTS: dict[str, tuple[Dialect, ...]] = {
    "gymnasium-solver": (gymnasium_solver.FLAGS, gymnasium_solver.YAML),
    "rlclinic": (rlclinic_flags.DIALECT,),
    "sb3": (sb3_python.DIALECT,),
    "sb3-zoo": (rl_zoo.YAML, rl_zoo.FLAGS),
    "imitation": (sb3_python.DIALECT,),
    "cleanrl": (cleanrl.DIALECT,),
    "rllib": (rllib.PYTHON, rllib.DICT),
    "torchrl": (hydra.TORCHRL,),
    "rsl_rl": (rsl_rl.DIALECT,),
    "skrl": (skrl.DIALECT,),
    "spinningup": (spinningup.DIALECT,),
    "verl": (hydra.DIALECT,),
    "search-r1": (hydra.DIALECT,),
    "nemo-rl": (hydra.DIALECT,),
    "areal": (hydra.DIALECT,),
    "trl": (generic.TRL,),
    "d3rlpy": (generic.D3RLPY,),
    "openrlhf": (generic.FLAGS,),
    "slime": (generic.FLAGS,),
    "sample-factory": (generic.FLAGS_JOINED,),
    "mlagents": (generic.MLAGENTS,),
    "prime-rl": (generic.TOML,),
}
BY_SUFFIX = {"yaml": generic.YAML, "yml": generic.YAML, "json": generic.JSON, "toml": generic.TOML}
# What they keep of a config is a record that nobody edits.
TRACKERS = frozenset({"wandb", "mlflow", "trackio"})

__all__ = [
    "TRACKERS", "AlreadySo", "Assignment", "CannotWrite", "Dialect", "assignments", "dialects", "dialects_of", "render",
]  # fmt: skip


def render(run: Run, changes: Sequence[Change], dialect: Dialect | None = None, *, script: bool = False) -> Native:
    """The changes as the user would write them; CannotWrite with the reason where no syntax can say them exactly.

    Into a script go arguments, whatever file the run read them from.
    """
    if not changes:
        raise CannotWrite("there is nothing to change")
    failures: list[CannotWrite] = []
    for way in (dialect,) if dialect is not None else dialects_of(run, () if script else changes):
        try:
            return Native(way.id, way.render(run, assignments(run, changes, way)))
        except CannotWrite as failure:
            failures.append(failure)
    raise failures[-1]


def assignments(run: Run, changes: Sequence[Change], dialect: Dialect) -> tuple[Assignment, ...]:
    """The changes under the keys of one dialect."""
    found = translate(run, changes, dialect.names)
    for assignment in found:
        reason = dialect.refuses(run, assignment)
        if reason:
            raise CannotWrite(reason)
    return found


def dialects() -> tuple[Dialect, ...]:
    """Every dialect, each once."""
    known = [dialect for row in DIALECTS.values() for dialect in row]
    return tuple({dialect.id: dialect for dialect in (*known, sb3_python.FILE, *BY_SUFFIX.values())}.values())


def dialects_of(run: Run, changes: Sequence[Change] = ()) -> tuple[Dialect, ...]:
    """The ways to write for one run, best first: what started it, its framework, then the format of its config.

    What a file of the user's own sets is changed there, under the key that it has in it.
    """
    if run.source == "hydra" and run.framework not in ("torchrl", "rsl_rl"):
        return (hydra.DIALECT,)
    row = DIALECTS.get(run.framework)
    if row is None:
        return (_by_config_file(run) or generic.YAML,)
    # A section of its own for one Atari game would hide all that `atari` says, so flags come first there too.
    if run.framework == "sb3-zoo" and (_is_set(run, "hyperparams") or "NoFrameskip" in run.environment):
        return row[::-1]
    if run.framework == "rllib" and not rllib.is_new_stack(run):
        return row[::-1]
    if run.framework == "sb3" and _by_config_file(run) is not None:
        is_there = run.source not in TRACKERS and changes and all(_from_document(run, item.key) for item in changes)
        return (sb3_python.FILE, *row) if is_there else (*row, sb3_python.FILE)
    return row


def _by_config_file(run: Run) -> Dialect | None:
    return next((found for name in run.config.settings if (found := _from_document(run, name)) is not None), None)


def _from_document(run: Run, name: str) -> Dialect | None:
    """The format of the config file that sets a hyperparameter; None where something else does, or nothing."""
    setting = run.config.settings.get(name)
    origin = setting.origin if setting is not None else None
    return BY_SUFFIX.get(origin.file.rpartition(".")[2]) if origin is not None else None


def _is_set(run: Run, key: str) -> bool:
    """Whether the zoo was given hyperparameters on its command line."""
    return any(
        setting.value not in (None, {}, "") for name, setting in run.config.native.items() if name.split(".")[0] == key
    )
