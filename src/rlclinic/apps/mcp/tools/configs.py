"""Which environments and variants can be trained, and with what configuration."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlclinic.apps.mcp.confine import inside
from rlclinic.apps.mcp.reply import UNTRUSTED, Part, Reply, plain_value
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import UsageError
from rlclinic.reference.algorithms import algorithm_name

FOLDER = "config/environments"
REFERENCE = "rlclinic reference"
ENDINGS = (".yaml", ".yml")


class Environment(Part):
    """Something that can be trained."""

    env_id: str
    config_file: str
    """The user's file, or rlclinic's own reference."""


class Environments(Reply):
    count: int
    environments: list[Environment]
    untrusted: str = UNTRUSTED


class Variants(Reply):
    env_id: str
    variants: list[str]
    config_file: str
    untrusted: str = UNTRUSTED


class ConfigReply(Reply):
    config_id: str
    config_file: str
    config: dict[str, Any]
    not_used: list[str]
    """What the file says and rlclinic does not train with."""
    untrusted: str = UNTRUSTED


def list_environments(workspace: Workspace, filter: str = "") -> Environments:  # noqa: A002
    """List the environments that start_training knows: the project's config/environments/*.yaml, then rlclinic's
    reference configurations. `filter` is a part of the name."""
    own = [Environment(env_id=path.stem, config_file=workspace.shown(path)) for path in user_files(workspace)]
    taken = {entry.env_id for entry in own}
    known = [
        Environment(env_id=env_id, config_file=REFERENCE)
        for ids in environment_ids().values()
        for env_id in ids
        if env_id not in taken
    ]
    chosen = [entry for entry in (*own, *known) if filter.lower() in entry.env_id.lower()]
    text = f"{len(chosen)} environments; list_variants names the variants of one."
    return Environments(count=len(chosen), environments=chosen).said(text)


def list_variants(workspace: Workspace, env_id: str) -> Variants:
    """List the variants of an environment: those of its config file, or the algorithms with a reference configuration.
    `<env_id>:<variant>` is the config_id of start_training."""
    path = user_file(workspace, env_id)
    if path is not None:
        found, where = list(_variants(path)), workspace.shown(path)
    else:
        found, where = [name.lower() for name in reference_algorithms(env_id)], REFERENCE
        if not found:
            raise UsageError(f"no configuration for the environment {env_id!r}", hint="call list_environments")
    text = f"{len(found)} variants of {env_id!r}: {', '.join(found[:12])}."
    return Variants(env_id=env_id, variants=found, config_file=where).said(text)


def get_config(workspace: Workspace, env_id: str, variant: str) -> ConfigReply:
    """Show what a variant trains with, under canonical hyperparameter names, as start_training would use it before
    overrides."""
    source, where = config_source(workspace, f"{env_id}:{variant}")
    if where == REFERENCE:
        from rlclinic.reference.reference_configs import reference_config

        algorithm = source.rpartition(":")[2].upper()
        values = {"env_id": env_id, "algorithm": algorithm, **reference_config(env_id, algorithm)}
        foreign: tuple[str, ...] = ()
    else:
        from rlclinic.lab.config_file import read_config_file

        path, _, name = source.rpartition(":")
        read, foreign = read_config_file(Path(path), name)
        values = dict(read)
    reply = ConfigReply(
        config_id=f"{env_id}:{variant}",
        config_file=where,
        config=plain_value(values),
        not_used=list(foreign),
    )
    unused = f" {len(foreign)} of its keys are not used." if foreign else ""
    return reply.said(f"{len(values)} settings of {env_id}:{variant}, from {where}.{unused}")


def config_source(workspace: Workspace, config_id: str) -> tuple[str, str]:
    """What the lab is asked to train for a known config, and where that is written; UsageError for anything else."""
    env_id, separator, variant = config_id.rpartition(":")
    if not separator or not env_id or not variant:
        raise UsageError(f"{config_id!r} is no config_id", hint="write <env_id>:<variant>, for example CartPole-v1:ppo")
    path = user_file(workspace, env_id)
    if path is not None:
        found = _variants(path)
        if variant not in found:
            told = ", ".join(found) or "none"
            raise UsageError(f"{path.name} has no variant {variant!r}: it has {told}", hint="call list_variants")
        return f"{path}:{variant}", workspace.shown(path)
    known = reference_algorithms(env_id)
    if not known:
        raise UsageError(f"no configuration for the environment {env_id!r}", hint="call list_environments")
    algorithm = algorithm_name(variant)
    if algorithm not in known:
        told = ", ".join(name.lower() for name in known)
        raise UsageError(f"{env_id} has no variant {variant!r}: it has {told}", hint="call list_variants")
    return f"{env_id}:{algorithm.lower()}", REFERENCE


def user_files(workspace: Workspace) -> list[Path]:
    """The project's own config files, those inside the root only."""
    from rlclinic.readers.no_links import listing, real

    folder, found = workspace.root / FOLDER, []
    with suppress(OSError), listing(real(folder)) as entries:
        for path in sorted(folder / entry.name for entry in entries):
            with suppress(UsageError):
                if path.suffix in ENDINGS and inside(workspace.root, str(path)).is_file():
                    found.append(path)
    return found


def user_file(workspace: Workspace, env_id: str) -> Path | None:
    """The project's config file of an environment."""
    wanted = env_id.replace("/", "-")
    return next((path for path in user_files(workspace) if path.stem in (env_id, wanted)), None)


def reference_algorithms(env_id: str) -> tuple[str, ...]:
    """The algorithms with a reference configuration that the lab can train, for an environment it knows."""
    from rlclinic.lab.backend import ALGORITHMS
    from rlclinic.reference.reference_configs import has_reference_config

    if ":" in env_id or not env_id.isprintable():
        return ()
    names = dict.fromkeys(name for group in ALGORITHMS.values() for name in group)
    return tuple(name for name in names if has_reference_config(env_id, name))


@cache
def environment_ids() -> dict[str, list[str]]:
    """Gymnasium ids by their name in the table of reference configurations."""
    text = files("rlclinic.apps.mcp.tables").joinpath("environment_ids.toml").read_text(encoding="utf-8")
    return {str(key): list(value) for key, value in tomllib.loads(text).items()}


def _variants(path: Path) -> tuple[str, ...]:
    """The variants of a gymnasium-solver file; a file without any is one variant by its algorithm."""
    from rlclinic.readers.formats.errors import FormatError
    from rlclinic.readers.formats.yaml.safe_yaml import load_yaml
    from rlclinic.readers.no_links import read_file

    try:
        data = load_yaml(read_file(path).decode("utf-8")).data
    except (OSError, UnicodeDecodeError, FormatError) as error:
        raise UsageError(f"{path.name} cannot be read: {error}", hint="correct the file") from error
    items = data.items() if isinstance(data, dict) else ()
    found = tuple(str(key) for key, value in items if isinstance(value, dict) and "algo_id" in value)
    if found or not isinstance(data, dict):
        return found
    algorithm = data.get("algorithm") or data.get("algo_id")
    return (str(algorithm).lower(),) if algorithm else ()
