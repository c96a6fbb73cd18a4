"""A script or config by its path, in whatever language it is written. Only FormatError and OSError are raised."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.formats.logs.notebook import notebook_code
from rlclinic.readers.formats.python_source import parse_module
from rlclinic.readers.no_links import lies_in, read_file
from rlclinic.readers.scripts.config_file import read_config_file
from rlclinic.readers.scripts.python_script import read_python
from rlclinic.readers.scripts.script import Script

# Bytes; what is larger is data. Notebooks hold pictures.
MAX_BYTES = 512 << 10
MAX_NOTEBOOK = 8 << 20

CODE = (".py", ".ipynb", ".sh", ".bash", ".sbatch", ".slurm")
CONFIGS = (".yaml", ".yml", ".json")
# Settings that say where a trainer writes.
OUTPUTS = ("output_dir", "logging_dir", "trainer.default_local_dir")
# Beginnings of lines of a notebook that are not Python.
MAGIC = ("%", "!", "?")


def load_script(
    path: Path, *, given: Mapping[str, object] | None = None, section: str = "", environment: str = ""
) -> Script:
    """What the file says of a run. `given` are flags that the run's command line set."""
    try:
        if path.suffix in CONFIGS:
            return read_config_file(path, section, environment)
        if path.suffix == ".py":
            return read_python(parse_module(_text(path)), path.name, given or {})
        if path.suffix == ".ipynb":
            return _notebook(path, given or {})
        if path.suffix in CODE:
            return _shell(path, given or {})
    except (RecursionError, MemoryError):
        raise FormatError("nested too deeply to be read") from None
    raise FormatError(f"settings are read from {', '.join((*CODE, *CONFIGS))}, not from {path.suffix or 'this file'}")


def _text(path: Path, limit: int = MAX_BYTES) -> str:
    return decode(read_file(path, limit))


def _shell(path: Path, given: Mapping[str, object]) -> Script:
    from rlclinic.readers.scripts.shell_script import read_shell, with_defaults

    shell, programs = read_shell(_text(path))
    for named in [value.value for value in shell.values if value.key == "config"]:
        # A recipe, as TRL's commands take it; flags come before it.
        if str(named).endswith(CONFIGS) and (file := _beside(path, str(named))) is not None:
            shell = with_defaults(shell, read_config_file(file, "", ""), os.path.relpath(file, path.parent))
    scripts = [file for name in programs if name.endswith(".py") and (file := _beside(path, name)) is not None]
    shell = replace(shell, folders=tuple(str(value.value) for value in shell.values if value.key in OUTPUTS))
    if len(scripts) != 1:
        return shell
    flags = {value.key: value.value for value in shell.settings({}, "") if value.basis != "open"}
    started = load_script(scripts[0], given={**flags, **given})
    return with_defaults(shell, started, scripts[0].name)


def _beside(path: Path, name: str) -> Path | None:
    """The script that a command starts: beside the shell script or, as from the root of the project, one above."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        return None
    return next((folder / name for folder in (path.parent, path.parent.parent) if lies_in(folder / name, folder)), None)


def _notebook(path: Path, given: Mapping[str, object]) -> Script:
    """The cells that are Python as one script, those with shell commands as another above it."""
    from rlclinic.readers.scripts.shell_script import read_shell, with_defaults

    cells = notebook_code(_text(path, MAX_NOTEBOOK))
    places = [place for cell in cells for _, place in cell]
    lines = [line.lstrip() for cell in cells for line, _ in cell]
    shell, _ = read_shell("\n".join(line[1:] if line.startswith("!") else "" for line in lines))
    tree = parse_module("\n".join(line for cell in cells for line in _python([line for line, _ in cell])))
    flags = {value.key: value.value for value in shell.settings({}, "") if value.basis != "open"}
    python = read_python(tree, path.name, {**flags, **given})
    script = with_defaults(shell, python, "") if shell.values else python
    return replace(script, values=tuple(replace(value, line=places[value.line - 1]) for value in script.values))


def _python(cell: list[str]) -> list[str]:
    """The lines without magic; those of a cell that is no Python stay as empty ones."""
    lines = ["" if line.lstrip().startswith(MAGIC) else line for line in cell]
    try:
        parse_module("\n".join(lines))
    except FormatError:
        return [""] * len(cell)
    return lines
