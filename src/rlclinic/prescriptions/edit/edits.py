"""One wanted edit of a file, when it is refused, and the proof that nothing else changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from rlclinic.model.errors import RlclinicError
from rlclinic.model.lazy_dataclass import dataclass

Path = tuple[str | int, ...]

# Two spellings of one number: 0.0003 and 3e-4 are the same float, a rounded log value is not.
TOLERANCE = 1e-9

# How many places a message names.
SHOWN = 3


class Refused(RlclinicError):  # noqa: N818 - reads as what it is
    """An edit that is not sure. The file stays as it is."""

    kind = "refused"


class Missing:
    """Stands for a value that is not there."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class Edit:
    """One value of a file to another."""

    path: Path
    before: object
    """What has to stand there now; MISSING where it is not known or not set."""
    after: object
    also: frozenset[str] = frozenset()
    """Other names of the same setting, in lower case."""
    was_set: bool = False
    """Whether the run had a value that is no default: a file that does not set it is not the one it was made with."""

    @property
    def name(self) -> str:
        """The path for messages."""
        return dotted(self.path)


def dotted(path: Path) -> str:
    """A path for messages."""
    return ".".join(str(part) for part in path)


def value_at(data: object, path: Path) -> object:
    """The value at a path, MISSING where there is none."""
    for part in path:
        is_key = isinstance(data, Mapping) and part in data
        is_index = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if not is_key and not is_index:
            return MISSING
        data = data[part]  # type: ignore[index]
    return data


def check_before(edit: Edit, found: object, place: str = "") -> None:
    """Refuse to edit a file that is not the one the run was made with."""
    if edit.before is MISSING or found is MISSING or agrees(found, edit.before):
        return
    raise Refused(
        f"{place}{edit.name} is {found!r} in this file, but the run had {edit.before!r}",
        hint="name the file that the run was made with, or make the change by hand",
    )


def agrees(found: object, expected: object) -> bool:
    """Whether a value of the file is the one that the run had; PyYAML reads `1e-3` as text, programs as a number."""
    if isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        shared = set(found) & set(expected)
        return bool(shared) and all(agrees(found[key], expected[key]) for key in shared)
    numbers = _number(found), _number(expected)
    if numbers[0] is not None and numbers[1] is not None:
        return math.isclose(numbers[0], numbers[1], rel_tol=TOLERANCE, abs_tol=0.0)
    return found == expected and isinstance(found, bool) == isinstance(expected, bool)


def fitted(found: object, after: object) -> object:
    """The new value in the type of the old one where that loses nothing: `1e6` stays a float, `64` an integer."""
    if isinstance(found, bool) or isinstance(after, bool):
        return after
    # PyYAML reads `1e-3` as text; whoever wrote it meant a float.
    meant = _number(found) if isinstance(found, str) and not found.lstrip("+-").isdigit() else found
    if isinstance(meant, float) and isinstance(after, int):
        return float(after)
    if isinstance(found, int) and isinstance(after, float) and after.is_integer():
        return int(after)
    return list(after) if isinstance(after, tuple) else after


def prove(before: object, after: object, path: Path, value: object) -> None:
    """Refuse unless `after` is `before` with exactly the value at the path set."""
    expected = dict(_leaves(before))
    for place in [place for place in expected if place[: len(path)] == path]:
        del expected[place]
    # A mapping that was empty has a leaf of its own.
    for length in range(len(path)):
        if path[:length] in expected and expected[path[:length]] == {}:
            del expected[path[:length]]
    expected.update(_leaves(value, path))
    found = dict(_leaves(after))
    places = expected.keys() | found.keys()
    differing = [p for p in places if not same(expected.get(p, MISSING), found.get(p, MISSING))]
    if differing:
        names = sorted(map(dotted, differing))
        shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
        raise Refused(
            f"the edit would not change {dotted(path)} alone, but also: {shown}",
            hint="an anchor or a merge shares the value; make the change by hand",
        )


def same(left: object, right: object) -> bool:
    """Equal in value and in type."""
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right):
        return True
    return type(left) is type(right) and left == right


def _leaves(data: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    if isinstance(data, Mapping) and data:
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, list) and data:
        for index, value in enumerate(data):
            yield from _leaves(value, (*path, index))
    else:
        yield path, data


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
