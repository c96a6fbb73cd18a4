"""One value of a YAML text replaced or added in place."""

from __future__ import annotations

import re

from rlclinic.prescriptions.edit.edits import Path, Refused, dotted
from rlclinic.prescriptions.edit.yaml_layout import Layout, Pair, Spot, yaml_layout
from rlclinic.prescriptions.syntax.assignment import CannotWrite
from rlclinic.prescriptions.syntax.expression import edit_expression, expression_value, single_quoted
from rlclinic.prescriptions.syntax.spelling import yaml_text
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.yaml.safe_yaml import yaml_read

_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=\r?\n|$)")
_LINE_END = re.compile(r"\r\n|\n")


def load(text: str) -> object:
    """The data as PyYAML reads them, nothing constructed."""
    try:
        return yaml_read(text).data
    except FormatError as error:
        raise Refused(f"not YAML: {error}") from None


def replace(text: str, path: Path, found: object, after: object) -> str:
    """The text with another value at the path."""
    layout = yaml_layout(text)
    spot = _only(layout, path)
    if spot.style in ("|", ">"):
        raise Refused(f"line {spot.line}: a text block is not edited")
    if spot.style == "block":
        raise Refused(f"line {spot.line}: a list or mapping over several lines is not replaced; edit it by hand")
    if spot.style in ("'", '"') and _is_number(found) and not isinstance(after, str):
        raise Refused(f"line {spot.line}: the number stands in quotes, so it is not sure what reads it")
    return text[: spot.start] + _spelled(spot, after) + text[spot.end :]


def insert(text: str, path: Path, after: object) -> str:
    """The text with a new key in a mapping that is there, in its style and with its indent."""
    layout = yaml_layout(text)
    parent, name = path[:-1], str(path[-1])
    if parent not in layout.pairs or len(layout.spots.get(parent, ())) != 1:
        raise Refused(f"there is no place for {dotted(path)} in this file")
    spot, pairs = layout.spots[parent][0], layout.pairs[parent]
    line = f"{yaml_text(name)}: {yaml_text(after)}"
    if spot.style == "[":
        return _into_flow(text, spot, pairs, line)
    return _into_block(text, pairs, line)


def replace_in_expression(text: str, path: Path, after: object) -> tuple[str, Path, str]:
    """The text with an argument of a Python expression changed; the path of that text, and its new value."""
    layout = yaml_layout(text)
    for length in range(len(path) - 1, 0, -1):
        spots = layout.spots.get(path[:length], [])
        if len(spots) != 1 or spots[0].style in ("block", "[", "|", ">"):
            continue
        spot = spots[0]
        quote = spot.style
        raw = text[spot.start + len(quote) : spot.end - len(quote)]
        if "\n" in raw or "\\" in raw or (quote and quote in raw):
            raise Refused(f"line {spot.line}: the expression is escaped or wrapped; edit it by hand")
        rest = tuple(str(part) for part in path[length:])
        try:
            new = edit_expression(raw, rest, after)
            new = single_quoted(new) if quote == '"' else new
        except CannotWrite as error:
            raise Refused(f"line {spot.line}: {error.message}") from None
        if quote == "'" and "'" in new:
            raise Refused(f"line {spot.line}: the new expression needs the quotes that enclose it")
        start, end = spot.start + len(quote), spot.end - len(quote)
        return text[:start] + new + text[end:], path[:length], new
    raise Refused(f"there is no {dotted(path)} in this file")


def value_in_expression(data: object, rest: Path) -> tuple[bool, object]:
    """The value of an argument of a Python expression that stands in the file as text."""
    if not isinstance(data, str):
        return False, None
    try:
        return expression_value(data, tuple(str(part) for part in rest))
    except CannotWrite:
        return False, None


def _only(layout: Layout, path: Path) -> Spot:
    spots = layout.spots.get(path, [])
    if len(spots) > 1:
        lines = ", ".join(str(spot.line) for spot in spots)
        raise Refused(f"{dotted(path)} is given several times (lines {lines})")
    if not spots:
        raise Refused(f"{dotted(path)} comes from an anchor or a merge, not from its own line")
    return spots[0]


def _spelled(spot: Spot, after: object) -> str:
    text = yaml_text(after)
    if spot.start == spot.end:
        return f" {text}"
    if isinstance(after, str) and spot.style == "'" and "\n" not in after:
        return "'" + after.replace("'", "''") + "'"
    if isinstance(after, str) and spot.style == '"' and not text.startswith('"'):
        return f'"{text}"'
    return text


def _into_flow(text: str, spot: Spot, pairs: list[Pair], line: str) -> str:
    if not pairs:
        return text[: spot.start + 1] + line + text[spot.end - 1 :]
    last = pairs[-1]
    if last.value is None:
        raise Refused("the mapping has a key without a value")
    return f"{text[: last.value.end]}, {line}{text[last.value.end :]}"


def _into_block(text: str, pairs: list[Pair], line: str) -> str:
    """After the last pair that ends on a line of its own; nested mappings further down stay where they are."""
    newline = match.group() if (match := _LINE_END.search(text)) else "\n"
    for pair in reversed(pairs):
        spot = pair.value
        if spot is None or spot.style in ("block", "|", ">"):
            continue
        rest = _REST_OF_LINE.match(text, spot.end)
        if rest is None:
            continue
        return f"{text[: rest.end()]}{newline}{' ' * pair.column}{line}{text[rest.end() :]}"
    raise Refused("the mapping has no simple line to add the key after")


def _is_number(value: object) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True
