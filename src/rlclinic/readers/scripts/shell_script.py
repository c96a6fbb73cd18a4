"""A shell script that starts trainings: flags and overrides of its command lines, with its variables filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from rlclinic.readers.consoles.config_commands import argument_settings, commands
from rlclinic.readers.consoles.config_values import read_value
from rlclinic.readers.scripts.script import Rank, Script, ScriptValue
from rlclinic.reference.algorithms import algorithm_in, algorithm_name
from rlclinic.reference.framework import framework_of_modules

# Lines of one script, and characters of one line, that are looked at.
MAX_LINES = 5_000
MAX_LINE = 20_000
# Characters that the variables of one line add: each may hold the one before it twice.
MAX_FILLED = 4_000
# rl-zoo takes hyperparameters as `key:value` after this flag.
PAIRS = ("hyperparams", "params")
ALGORITHM_FLAGS = ("algorithm.adv_estimator", "algo", "algorithm", "alg")

_SET = re.compile(r"\s*(?:export |local |readonly |declare )?([A-Za-z_]\w{0,80})=(\"[^\"]*\"|'[^']*'|[^\s;&|]*)\s*;?$")
_LOOP = re.compile(r"\s*for ([A-Za-z_]\w{0,80}) in (.*)")
_USE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-([^}$]*))?\}|([A-Za-z_]\w*))")
_BETWEEN = re.compile(r";\s*do\b|;\s*then\b|;\s*done\b|\s&&\s")


def read_shell(text: str) -> tuple[Script, tuple[str, ...]]:
    """What the commands set, and the Python files that they start."""
    lines = [line[:MAX_LINE] for line in text.splitlines()[:MAX_LINES]]
    variables: dict[str, str | None] = {}
    filled: list[str] = []
    for line in lines:
        pieces = _BETWEEN.split("" if line.lstrip().startswith("#") else line)
        for piece in pieces:
            _assign(piece, variables)
        # One line stays one, so that the numbers of the lines stay right; what goes on in the next is its last piece.
        filled.append(_fill(pieces[-1] if line.endswith("\\") else max(pieces, key=len), variables))
    values: list[ScriptValue] = []
    programs: dict[str, None] = {}
    algorithms: dict[str, None] = {}
    for command in commands(filled):
        programs[command.program] = None
        settings = argument_settings(command.arguments)
        for pairs in (settings.pop(flag) for flag in PAIRS if flag in settings):
            found = pairs if isinstance(pairs, list) else [pairs]
            settings |= {key: read_value(value) for key, _, value in (str(pair).partition(":") for pair in found)}
        named = next((algorithm_name(str(settings[flag])) for flag in ALGORITHM_FLAGS if flag in settings), "")
        algorithms[named or algorithm_in(command.program.rpartition("/")[2].removesuffix(".py"))] = None
        for key, value in settings.items():
            basis = "open" if isinstance(value, str) and "$" in value else "script"
            values.append(ScriptValue(key, value, command.line, basis, Rank.TRAINER))  # type: ignore[arg-type]
    script = Script(
        framework=framework_of_modules(programs),
        algorithms=tuple(name for name in algorithms if name),
        values=tuple(values),
        trains=bool(values),
    )
    return script, tuple(name for name in programs if name.endswith((".py", ".sh")))


def with_defaults(shell: Script, started: Script, file: str) -> Script:
    """The command lines above the script that they start."""
    below = tuple(replace(value, file=file) for value in started.values)
    taken = {value.key for value in shell.values}
    return Script(
        shell.framework or started.framework,
        shell.algorithms or started.algorithms,
        (*shell.values, *(value for value in below if value.key not in taken)),
        (*shell.folders, *started.folders),
        trains=True,
    )


def _assign(line: str, variables: dict[str, str | None]) -> None:
    loop = _LOOP.match(line)
    if loop is not None:
        words = loop[2].split(";")[0].split()
        variables[loop[1]] = words[0] if len(words) == 1 and "$" not in words[0] else None
        return
    found = _SET.match(line)
    if found is not None:
        value = _fill(found[2].strip("\"'"), variables)
        known = variables.get(found[1], value)
        variables[found[1]] = value if "$" not in value and known == value else None


def _fill(text: str, variables: Mapping[str, str | None]) -> str:
    room = MAX_FILLED

    def of(found: re.Match[str]) -> str:
        nonlocal room
        name = found[1] or found[3]
        value = variables.get(name)
        if name not in variables and found[2] is not None:
            # The default of a variable that the script does not set itself may be set outside: it is open.
            return found[0]
        room -= len(value or "")
        return found[0] if value is None or room < 0 else value

    return _USE.sub(of, text)
