"""A config file that the user names beside a run: Hydra's with its groups, rl-zoo's with a section per environment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from rlclinic.readers.draft import flatten
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.safe_json import load_json
from rlclinic.readers.no_links import lies_in, read_file
from rlclinic.readers.parts.config_files import is_table_of_environments
from rlclinic.readers.scripts.script import Rank, Script, ScriptValue
from rlclinic.reference.algorithms import algorithm_name

# Bytes of a config that someone wrote.
MAX_BYTES = 2 << 20
# Groups of one Hydra config.
MAX_GROUPS = 20
# Sections that hold for every environment.
SHARED = ("default", "defaults", "_base")


def read_config_file(path: Path, section: str, environment: str) -> Script:
    """The settings of the section that is named or of the run's environment, of the whole file where it has none."""
    data, lines = _load(path)
    values = list(_values(data, lines, ""))
    if not isinstance(data, dict):
        raise FormatError("no mapping of settings")
    nested = [key for key, value in data.items() if isinstance(value, dict)]
    chosen = section if section in data else environment if environment in data else ""
    if chosen:
        sections = [chosen, *(name for name in SHARED if name in nested)]
        found = [v for name in sections for v in values if v.key.startswith(f"{name}.")]
        values = [_renamed(value, value.key.partition(".")[2] or value.key) for value in found]
        values = list({value.key: value for value in reversed(values)}.values())
        if chosen == environment:
            values.append(ScriptValue("env_id", environment, lines.get((chosen,), 1), "script", Rank.CALL))
    elif section or is_table_of_environments(data):
        wanted = section or environment or "an environment that is not known"
        raise FormatError(f"no section for {wanted}; it has {', '.join(map(str, list(data)[:5]))}")
    values += _groups(path, data)
    algorithm = algorithm_name(path.stem) if chosen else ""
    return Script(algorithms=(algorithm,) if algorithm else (), values=tuple(values), trains=True)


def _groups(path: Path, data: dict[object, object]) -> Iterator[ScriptValue]:
    """The files that a `defaults` list names; what the config itself sets comes first."""
    groups = data.get("defaults")
    for entry in groups[:MAX_GROUPS] if isinstance(groups, list) else ():
        for group, choice in entry.items() if isinstance(entry, dict) else ():
            named = PurePath(str(group), f"{choice}.yaml")
            file = path.parent / named
            if named.is_absolute() or not lies_in(file, path.parent):
                continue
            found, lines = _load(file)
            name = file.relative_to(path.parent).as_posix()
            for value in _values(found, lines, f"{str(group).replace('/', '.')}."):
                yield _renamed(value, value.key, name)


def _load(path: Path) -> tuple[object, dict[tuple[str | int, ...], int]]:
    from rlclinic.readers.formats.yaml.safe_yaml import load_yaml

    text = decode(read_file(path, MAX_BYTES))
    document = load_json(text) if path.suffix == ".json" else load_yaml(text)
    return document.data, dict(document.lines)


def _values(data: object, lines: dict[tuple[str | int, ...], int], prefix: str) -> Iterator[ScriptValue]:
    for path, value in flatten(data):
        if path[0] in ("defaults", "hydra"):
            continue
        line = lines.get(path, lines.get((*path, 0), 1))
        is_open = isinstance(value, str) and ("${" in value or value == "???")
        key = prefix + ".".join(map(str, path))
        yield ScriptValue(key, value, line, "open" if is_open else "script", Rank.TRAINER)


def _renamed(value: ScriptValue, key: str, file: str = "") -> ScriptValue:
    return ScriptValue(key, value.value, value.line, value.basis, value.rank, file=file)
