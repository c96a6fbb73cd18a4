"""The part of JSON Schema (draft 2020-12) that docs/diagnosis.schema.json uses; an unknown keyword is an error."""

from __future__ import annotations

import importlib
import importlib.util
import re
from typing import Any

NOTES = {"$schema", "$id", "$defs", "title", "description"}
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def problems(value: Any, schema: dict[str, Any], root: dict[str, Any], where: str = "$") -> list[str]:
    """Every way in which a value does not fit."""
    found: list[str] = []
    for keyword, wanted in schema.items():
        if keyword not in NOTES:
            found += _CHECKS[keyword](value, wanted, schema, root, where)
    return found


def checked(value: Any, schema: dict[str, Any]) -> list[str]:
    """Every way in which a document does not fit, by jsonschema as well where it is installed."""
    found = problems(value, schema, schema)
    if importlib.util.find_spec("jsonschema") is not None:
        jsonschema = importlib.import_module("jsonschema")
        jsonschema.Draft202012Validator.check_schema(schema)
        errors = list(jsonschema.Draft202012Validator(schema).iter_errors(value))
        assert bool(errors) == bool(found), (errors, found)
    return found


def _reference(value: Any, wanted: str, _: Any, root: dict[str, Any], where: str) -> list[str]:
    return problems(value, root["$defs"][wanted.removeprefix("#/$defs/")], root, where)


def _type(value: Any, wanted: str, _: Any, __: Any, where: str) -> list[str]:
    fits = isinstance(value, TYPES[wanted]) and not (isinstance(value, bool) and wanted in ("number", "integer"))
    return [] if fits else [f"{where}: {value!r} is not {wanted}"]


def _enum(value: Any, wanted: list[Any], _: Any, __: Any, where: str) -> list[str]:
    return [] if value in wanted else [f"{where}: {value!r} is none of {wanted}"]


def _const(value: Any, wanted: Any, _: Any, __: Any, where: str) -> list[str]:
    return [] if value == wanted else [f"{where}: {value!r} is not {wanted!r}"]


def _any_of(value: Any, wanted: list[dict[str, Any]], _: Any, root: dict[str, Any], where: str) -> list[str]:
    tries = [problems(value, option, root, where) for option in wanted]
    return [] if any(not attempt for attempt in tries) else [f"{where}: fits none: {tries}"]


def _properties(value: Any, wanted: dict[str, Any], _: Any, root: dict[str, Any], where: str) -> list[str]:
    if not isinstance(value, dict):
        return []
    shared = [name for name in wanted if name in value]
    return [line for name in shared for line in problems(value[name], wanted[name], root, f"{where}.{name}")]


def _required(value: Any, wanted: list[str], _: Any, __: Any, where: str) -> list[str]:
    return [f"{where}: {name} is missing" for name in wanted if isinstance(value, dict) and name not in value]


def _additional(value: Any, wanted: Any, schema: dict[str, Any], _: Any, where: str) -> list[str]:
    if wanted or not isinstance(value, dict):
        return []
    return [f"{where}: {name} is not allowed" for name in value if name not in schema["properties"]]


def _items(value: Any, wanted: dict[str, Any], _: Any, root: dict[str, Any], where: str) -> list[str]:
    if not isinstance(value, list):
        return []
    return [line for index, item in enumerate(value) for line in problems(item, wanted, root, f"{where}[{index}]")]


def _pattern(value: Any, wanted: str, _: Any, __: Any, where: str) -> list[str]:
    fits = not isinstance(value, str) or re.search(wanted, value)
    return [] if fits else [f"{where}: {value!r} does not match {wanted}"]


def _minimum(value: Any, wanted: float, _: Any, __: Any, where: str) -> list[str]:
    return [f"{where}: {value!r} is below {wanted}"] if isinstance(value, int | float) and value < wanted else []


def _maximum(value: Any, wanted: float, _: Any, __: Any, where: str) -> list[str]:
    return [f"{where}: {value!r} is above {wanted}"] if isinstance(value, int | float) and value > wanted else []


def _min_items(value: Any, wanted: int, _: Any, __: Any, where: str) -> list[str]:
    return [f"{where}: fewer than {wanted} items"] if isinstance(value, list) and len(value) < wanted else []


def _max_items(value: Any, wanted: int, _: Any, __: Any, where: str) -> list[str]:
    return [f"{where}: more than {wanted} items"] if isinstance(value, list) and len(value) > wanted else []


_CHECKS: dict[str, Any] = {
    "$ref": _reference,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "anyOf": _any_of,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "pattern": _pattern,
    "minimum": _minimum,
    "maximum": _maximum,
    "minItems": _min_items,
    "maxItems": _max_items,
}
