"""What the user asks to train: `ENV:ALGO`, a config file or a run's folder, with `key=value` overrides."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rlclinic.lab.assemble import Carried, assemble
from rlclinic.lab.backend import ALGORITHMS, backend_for, default_framework
from rlclinic.lab.config_file import read_config_file
from rlclinic.lab.derive import REPLACES
from rlclinic.lab.recipe import Recipe, wrappers_of
from rlclinic.lab.values import parse_override
from rlclinic.model.errors import UsageError
from rlclinic.reference.algorithms import algorithm_name
from rlclinic.reference.reference_configs import reference_config

CONFIG_ENDINGS = (".yaml", ".yml", ".json")


def recipe_from(
    source: str | Path, overrides: Sequence[str] = (), *, framework: str | None = None, trust: Iterable[str] = ()
) -> Recipe:
    """The recipe that the user asks for.

    Args:
        source: `CartPole-v1:ppo` or `package.module:Class:ppo` for the reference configuration of that environment;
            a YAML or JSON file of canonical or gymnasium-solver's keys (`FILE:VARIANT` where it has several); or the
            folder of a run that the lab trained.
        overrides: `key=value`, by canonical or by the library's own key.
        framework: `sb3` or `torchrl`; by default the first that has the algorithm.
        trust: What of the code that a file names may be imported. Names in `source` and `overrides` themselves may.

    Raises:
        UsageError: Something in it does not exist or does not fit; the message says what and what is near.
    """
    return asked(source, overrides, framework=framework, trust=trust).recipe


def asked(
    source: str | Path, overrides: Sequence[str] = (), *, framework: str | None = None, trust: Iterable[str] = ()
) -> Carried:
    """As `recipe_from`, with what a file's foreign keys could not be carried over."""
    text = str(source)
    left_out: tuple[str, ...] = ()
    path, variant = _as_file(text)
    if path is not None:
        values, left_out = read_config_file(path, variant)
    else:
        values = _reference(text)
    # The algorithm decides what the other keys mean.
    for override in overrides:
        key, _, value = override.partition("=")
        if key in {"framework", "algorithm"}:
            values[key] = _algorithm(value) if key == "algorithm" else value
    if framework is not None:
        values["framework"] = framework
    algorithm = str(values["algorithm"])
    chosen = str(values.setdefault("framework", default_framework(algorithm)))
    if algorithm not in ALGORITHMS.get(chosen, (algorithm,)):
        raise UsageError(f"{chosen} has no {algorithm} here", hint=f"it has {', '.join(ALGORITHMS[chosen])}")
    changes = _changes(overrides, algorithm, chosen)
    if path is None:
        trust = (*trust, str(values["env_id"]))
    carried = assemble({**values, **changes}, own_words=changes, trust=(*trust, *_written(values, changes)))
    return Carried(carried.recipe, (*left_out, *(() if path is None else carried.left_out)))


def _written(values: Mapping[str, object], changes: Mapping[str, object]) -> list[str]:
    """The environment and wrappers that the user himself wrote into the overrides."""
    found = [wrapper.name for wrapper in wrappers_of(changes.get("env_wrappers"))]
    environment = str(changes.get("env_id", values["env_id"]))
    # Of code the name counts, of a registered environment the arguments.
    if ("env_id" if ":" in environment else "env_kwargs") in changes:
        found.append(environment)
    return found


def _changes(overrides: Sequence[str], algorithm: str, framework: str) -> dict[str, object]:
    basic = backend_for(framework).hyperparameters(algorithm)
    takes = (*basic, *(name for name, replaced in REPLACES.items() if set(replaced) <= set(basic)))
    parsed = [parse_override(text, algorithm, takes, (framework, "gymnasium-solver")) for text in overrides]
    return {key: value for key, value in parsed if key not in {"framework", "algorithm"}}


def _as_file(text: str) -> tuple[Path | None, str]:
    """The file that a text names, and the variant in it; None where it names an environment."""
    for name, variant in ((text, ""), (text.rpartition(":")[0], text.rpartition(":")[2])):
        path = Path(name) if name else None
        if path is None:
            continue
        if path.is_dir() and (path / "config.json").is_file():
            return path / "config.json", variant
        if path.suffix.lower() in CONFIG_ENDINGS:
            if not path.is_file():
                raise UsageError("no such file", path=name, hint="name a config file, or ENV:ALGO")
            return path, variant
    return None, ""


def _reference(text: str) -> dict[str, object]:
    environment, separator, named = text.rpartition(":")
    if not separator or not environment:
        raise UsageError(f"{text!r} is neither ENV:ALGO nor a config file", hint="for example CartPole-v1:ppo")
    algorithm = _algorithm(named)
    return {**reference_config(environment, algorithm), "algorithm": algorithm, "env_id": environment}


def _algorithm(text: str) -> str:
    known = list(dict.fromkeys(name for names in ALGORITHMS.values() for name in names))
    found = algorithm_name(text)
    if found in known:
        return found
    close = difflib.get_close_matches(text.upper(), known, n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(name.lower() for name in close)}?" if close else f"one of {', '.join(known)}"
    raise UsageError(f"no trainer for the algorithm {text!r}", hint=hint)
