"""Edits of a YAML, JSON or TOML text: checked against what stands there, spliced, and proven by reading it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.prescriptions.edit import json_file, toml_file, yaml_file
from rlclinic.prescriptions.edit.edits import (
    MISSING,
    Edit,
    Path,
    Refused,
    check_before,
    fitted,
    prove,
    value_at,
)
from rlclinic.prescriptions.edit.yaml_layout import yaml_layout

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Format:
    """How one kind of file is read and spliced."""

    load: Callable[[str], object]
    replace: Callable[[str, Path, object, object], str]
    insert: Callable[[str, Path, object], str]


YAML = Format(yaml_file.load, yaml_file.replace, yaml_file.insert)
JSON = Format(json_file.load, json_file.replace, json_file.insert)
TOML = Format(toml_file.load, toml_file.replace, toml_file.insert)
FORMATS = {".yaml": YAML, ".yml": YAML, ".json": JSON, ".toml": TOML}


def edit_document(text: str, edits: Sequence[Edit], suffix: str) -> str:
    """The text with every edit made; Refused, with nothing half done, where one is not sure."""
    form = FORMATS.get(suffix)
    if form is None:
        raise Refused(f"files of the kind {suffix or 'without an ending'} are not edited")
    mark = BOM if text.startswith(BOM) else ""
    edited = text.removeprefix(BOM)
    for edit in edits:
        edited = _one(form, edited, edit)
    return mark + edited


def document_data(text: str, suffix: str) -> object:
    """The data of a text."""
    return FORMATS[suffix].load(text.removeprefix(BOM)) if suffix in FORMATS else None


def has_value(data: object, path: Path) -> bool:
    """Whether there is something at a path, also inside a text that holds a Python expression."""
    if value_at(data, path) is not MISSING:
        return True
    places = [(value_at(data, path[:length]), path[length:]) for length in range(1, len(path))]
    return any(yaml_file.value_in_expression(value, rest)[0] for value, rest in places)


def _one(form: Format, text: str, edit: Edit) -> str:
    data = form.load(text)
    found = value_at(data, edit.path)
    check_before(edit, found)
    if found is MISSING and form is YAML and _in_expression(data, edit):
        edited, place, value = yaml_file.replace_in_expression(text, edit.path, edit.after)
        prove(data, form.load(edited), place, value)
        return edited
    if isinstance(found, dict) and isinstance(edit.after, dict):
        return _parts(form, text, edit, found, list(edit.after.items()))
    after = fitted(found, edit.after)
    if isinstance(found, list) and isinstance(after, list) and len(found) == len(after):
        return _parts(form, text, edit, found, list(enumerate(after)))
    if found is MISSING:
        edited = form.insert(text, edit.path, after)
    elif found == after and type(found) is type(after):
        return text
    elif form is YAML and _is_inherited(text, edit.path):
        edited = form.insert(text, edit.path, after)
    else:
        edited = form.replace(text, edit.path, found, after)
    prove(data, form.load(edited), edit.path, after)
    return edited


def _parts(form: Format, text: str, edit: Edit, found: object, items: list[tuple[str | int, object]]) -> str:
    """Of a list or mapping only the entries that differ."""
    for key, after in items:
        path = (*edit.path, key)
        before = value_at(found, (key,))
        text = _one(form, text, Edit(path, before, after))
    return text


def _is_inherited(text: str, path: Path) -> bool:
    """Whether a YAML value comes from a merge: then the mapping gets a key of its own, and the anchor stays."""
    layout = yaml_layout(text)
    return path not in layout.spots and path[:-1] in layout.pairs


def _in_expression(data: object, edit: Edit) -> bool:
    """Whether the path leads into a text that holds a Python expression; its value is checked like any other."""
    for length in range(len(edit.path) - 1, 0, -1):
        value = value_at(data, edit.path[:length])
        if isinstance(value, str):
            is_there, found = yaml_file.value_in_expression(value, edit.path[length:])
            if is_there:
                check_before(edit, found)
            return True
    return False
