"""Values as text, so that the parser that reads them gets exactly the same value back.

PyYAML reads `1e-5` as text and `1.0e-5` as a number; the second spelling is a number for Python, JSON, TOML, Hydra
and both YAML versions, so it is the only one used.
"""

from __future__ import annotations

import json
import re
import shlex
from decimal import Decimal

import yaml

from rlclinic.prescriptions.syntax.assignment import CannotWrite, Code

_BARE_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.:/-]*")


def number_text(value: float) -> str:
    """A number that every parser reads as that number."""
    text = repr(value)
    mantissa, separator, exponent = text.partition("e")
    if separator and "." not in mantissa:
        text = f"{mantissa}.0e{exponent}"
    return text


def decimal_text(value: float) -> str:
    """A number without an exponent."""
    text = format(Decimal(repr(value)), "f")
    return text if isinstance(value, int) or "." in text else text + ".0"


def python_text(value: object) -> str:
    """A Python literal."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list | tuple):
        inside = ", ".join(python_text(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "dict(" + ", ".join(f"{key}={python_text(item)}" for key, item in value.items()) + ")"
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    raise _no_spelling(value)


def yaml_text(value: object) -> str:
    """A YAML value on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(yaml_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {yaml_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, str):
        plain = _BARE_WORD.fullmatch(value) is not None and not value.endswith(":") and yaml.safe_load(value) == value
        return value if plain else json.dumps(value, ensure_ascii=False)
    raise _no_spelling(value)


def json_text(value: object) -> str:
    """A JSON value."""
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(json_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))}: {json_text(item)}" for key, item in value.items()) + "}"
    if value is None or isinstance(value, bool | int | str):
        return json.dumps(value, ensure_ascii=False)
    raise _no_spelling(value)


def toml_text(value: object) -> str:
    """A TOML value; TOML has no null."""
    if value is None:
        raise CannotWrite("TOML has no way to write `null`", hint="remove the key instead")
    return json_text(value)


def hydra_text(value: object) -> str:
    """The right side of a Hydra override, quoted for the shell where it has to be."""
    if isinstance(value, dict):
        return shlex.quote("{" + ",".join(f"{key}:{_hydra_item(item)}" for key, item in value.items()) + "}")
    return shlex.quote(_hydra_item(value)) if isinstance(value, list | tuple | str) else _hydra_item(value)


def flag_text(value: object) -> str:
    """The value of a command-line flag, quoted for the shell where it has to be."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, str):
        return shlex.quote(value)
    raise _no_spelling(value)


def _hydra_item(value: object) -> str:
    if isinstance(value, list | tuple):
        return "[" + ",".join(_hydra_item(item) for item in value) + "]"
    if isinstance(value, str):
        return value if _BARE_WORD.fullmatch(value) and yaml.safe_load(value) == value else json.dumps(value)
    return yaml_text(value)


def _no_spelling(value: object) -> CannotWrite:
    return CannotWrite(f"a {type(value).__name__} cannot be written as text: {value!r}")
