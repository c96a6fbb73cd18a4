"""One value of a shell script that starts a training, replaced in place: a flag, an override, or its variable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.prescriptions.edit.edits import Edit, Refused, agrees, check_before, fitted
from rlclinic.prescriptions.syntax.assignment import Code
from rlclinic.prescriptions.syntax.spelling import yaml_text
from rlclinic.readers.consoles.config_values import read_value
from rlclinic.readers.scripts.shell_script import read_shell

_VALUE = r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s\"';&|\\]+)"
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    line: int
    text: str
    """The value as it stands there, without quotes around it."""


def edit_shell(text: str, edits: Sequence[Edit]) -> str:
    """The script with every edit made."""
    after = text
    for edit in edits:
        after = _one(after, edit)
    return after


def _one(text: str, edit: Edit) -> str:
    if isinstance(edit.after, Code):
        raise Refused(f"{edit.name} needs code, not a value: {edit.after}", hint="make the change by hand")
    named = list(
        _places(text, rf"(?:(?<![\w.$-])\+{{0,2}}{re.escape(edit.name)}=|(?<!\S)--{re.escape(edit.name)}[= ]\s*)")
    )
    others = "|".join(sorted(map(re.escape, edit.also)))
    if not named and others:
        named = list(_places(text, rf"(?<!\S)--(?:{others})[= ]\s*"))
    if not named:
        raise Refused(
            f"no command of the script sets {edit.name}", hint=f"add {edit.name}={yaml_text(edit.after)} to its command"
        )
    place = _followed(text, _only(named, edit.name), edit)
    found = read_value(place.text)
    check_before(edit, found, f"line {place.line}: ")
    value = fitted(found, edit.after)
    spelled = str(value) if isinstance(value, bool) and place.text in ("True", "False") else yaml_text(value)
    after = text[: place.start] + spelled + text[place.end :]
    _prove(text, after, edit)
    return after


def _places(text: str, before: str) -> Iterator[_Place]:
    for found in re.finditer(before + _VALUE, text):
        head = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
        if head.lstrip().startswith("#"):
            continue
        start, end = found.span("value")
        quoted = text[start] in "\"'"
        inner = (start + 1, end - 1) if quoted else (start, end)
        yield _Place(*inner, text.count("\n", 0, start) + 1, text[slice(*inner)])


def _only(places: Sequence[_Place], name: str) -> _Place:
    if len(places) > 1:
        lines = ", ".join(str(place.line) for place in places)
        raise Refused(f"{name} is set in {len(places)} places (lines {lines}), so it is not sure which counts")
    return places[0]


def _followed(text: str, place: _Place, edit: Edit) -> _Place:
    """The one assignment of the variable behind a value, which nothing else uses."""
    variable = _VARIABLE.fullmatch(place.text)
    if variable is None:
        if "$" in place.text:
            raise Refused(f"line {place.line}: {edit.name} is {place.text}, computed and not written as a value")
        return place
    name = variable[1]
    uses = [found for found in _VARIABLE.finditer(text) if found[1] == name]
    if len(uses) > 1:
        raise Refused(f"line {place.line}: {edit.name} is ${name}, which the script uses elsewhere too")
    assigned = list(_places(text, rf"(?m:^[ \t]*(?:export |local |readonly |declare )?{name}=)"))
    if not assigned:
        raise Refused(f"line {place.line}: {edit.name} is ${name}, which is set outside of the script")
    return _only(assigned, f"${name}")


def _prove(before: str, after: str, edit: Edit) -> None:
    """Refuse unless the commands of the script differ in this setting alone."""
    names = {edit.name, *edit.also}
    old, new = (read_shell(text)[0].values for text in (before, after))
    same_keys = [value.key for value in old] == [value.key for value in new]
    differing = {a.key for a, b in zip(old, new, strict=False) if a.value != b.value}
    kept = same_keys and {key.lower() for key in differing} <= {name.lower() for name in names}
    if not kept or any(value.key in differing and not agrees(value.value, edit.after) for value in new):
        raise Refused(f"the edit would not change {edit.name} alone", hint="make the change by hand")
