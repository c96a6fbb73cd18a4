"""The grammar of printed Python values: one pass from left to right, with limits on depth and number of values."""

from __future__ import annotations

import re

from rlclinic.model.numbers import whole
from rlclinic.readers.formats.literals.calls import call_value
from rlclinic.readers.formats.literals.strings import read_string

# Printed configs nest about ten levels and hold some thousand values.
MAX_DEPTH = 60
MAX_VALUES = 500_000

# Characters of an object's repr that are looked through for its end, and reprs inside of each other.
_MAX_REPR = 4_096
_MAX_ANGLES = 8

_BLANK = re.compile(r"\s*+")
_NUMBER = re.compile(
    r"[-+]?+(?:0[xX][0-9a-fA-F_]++|0[oO][0-7_]++|0[bB][01_]++"
    r"|(?:\d[\d_]*+(?:\.[\d_]*+)?+|\.\d[\d_]*+)(?:[eE][-+]?\d++)?+)(?![\w.])",
    re.ASCII,
)
_NON_FINITE = re.compile(
    r"(?P<sign>[-+]?)(?:(?:np|numpy|jnp|math|torch)\.)?(?P<word>nan|NaN|NAN|inf|Inf|INF|Infinity|infinity)(?![\w.(])"
)
_CALL = re.compile(r"(?P<name>[A-Za-z_][\w.]*+)\(")
_KEYWORD = re.compile(r"(?P<name>[A-Za-z_]\w*+)\s*+=(?!=)")
_BARE_KEY = re.compile(r"[^\s,:{}\[\]()'\"=<>]++")
_BARE = re.compile(r"(?:[^\s,:{}\[\]()'\"<>]|:(?=[^\s,}\])]))++")
_ARRAY_ITEM = re.compile(r"[-+]?\.?\d|\[|[-+]?(?:nan|inf)\b|\.\.\.")
_ANGLE = re.compile(r"->|[<>\n]")
_WORDS: dict[str, object] = {
    "None": None, "True": True, "False": False, "null": None, "true": True, "false": False,
    "np.True_": True, "np.False_": False,
}  # fmt: skip
_CLOSERS = {"[": "]", "(": ")", "{": "}"}

Path = tuple[str | int, ...]


class TornError(Exception):
    """The text at `at` does not go on as a value would."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.at = at


class LiteralParser:
    """Reads one value and remembers in `places` the offset of every key and item."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.places: dict[Path, int] = {}
        self._values = 0

    def value(self, at: int, path: Path = (), depth: int = 0, *, is_key: bool = False) -> tuple[object, int]:
        """The value at or behind `at` and the offset behind it."""
        at = self._skip(at)
        self._values += 1
        if self._values > MAX_VALUES:
            raise TornError(f"more than {MAX_VALUES} values", at)
        if depth > MAX_DEPTH:
            raise TornError(f"more than {MAX_DEPTH} levels of nesting", at)
        first = self.text[at : at + 1]
        if first == "{":
            return self._braces(at + 1, path, depth + 1)
        if first in {"[", "("}:
            return self._items(at, path, depth + 1)
        if first == "<":
            return self._angles(at)
        string = read_string(self.text, at)
        return self._atom(at, path, depth + 1, is_key=is_key) if string is None else string

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return at if found is None else found.end()

    def _braces(self, at: int, path: Path, depth: int) -> tuple[object, int]:
        """A dict or a set, behind its opening brace."""
        mapping: dict[object, object] = {}
        members: list[object] = []
        at = self._skip(at)
        while not self.text.startswith("}", at):
            start = at
            key, at = self.value(at, path, depth, is_key=True)
            at = self._skip(at)
            if self.text.startswith(":", at):
                name = self._hashable(key, start, at)
                inner = (*path, str(name))
                self.places[inner] = start
                mapping[name], at = self.value(at + 1, inner, depth)
            else:
                members.append(key)
            at = self._after_item(at, "}")
        if mapping and members:
            raise TornError("a dict with a key that has no value", at)
        return (members if members else mapping), at + 1

    def _hashable(self, key: object, start: int, end: int) -> object:
        try:
            hash(key)
        except TypeError:
            return self.text[start:end].strip()
        return key

    def _after_item(self, at: int, closer: str) -> int:
        """Where the next item or the closer stands."""
        at = self._skip(at)
        if self.text.startswith(",", at):
            return self._skip(at + 1)
        if not self.text.startswith(closer, at):
            raise TornError(f"',' or {closer!r} expected", at)
        return at

    def _items(self, at: int, path: Path, depth: int) -> tuple[object, int]:
        """A list, a tuple, or a value in parentheses."""
        opener = self.text[at]
        closer = _CLOSERS[opener]
        items: list[object] = []
        commas = False
        at = self._skip(at + 1)
        while not self.text.startswith(closer, at):
            inner = (*path, len(items))
            self.places[inner] = at
            item, at = self.value(at, inner, depth)
            items.append(item)
            at = self._skip(at)
            if self.text.startswith(",", at):
                commas = True
                at = self._skip(at + 1)
            elif not self.text.startswith(closer, at) and not (opener == "[" and self._spaced(at, item)):
                raise TornError(f"',' or {closer!r} expected", at)
        if opener == "[":
            return items, at + 1
        return (items[0] if len(items) == 1 and not commas else tuple(items)), at + 1

    def _spaced(self, at: int, before: object) -> bool:
        """str() of a numpy array puts only blanks between its numbers."""
        if not (isinstance(before, int | float | list) or before == "...") or not self.text[at - 1 : at].isspace():
            return False
        return _ARRAY_ITEM.match(self.text, at) is not None

    def _angles(self, at: int) -> tuple[object, int]:
        """`<Foo.BAR: 1>`, `<function f at 0x7f>`, with others inside."""
        depth = 0
        for found in _ANGLE.finditer(self.text, at, at + _MAX_REPR):
            mark = found.group()
            if mark == "\n" or depth > _MAX_ANGLES:
                raise TornError("'>' expected", found.start())
            depth += 1 if mark == "<" else -1 if mark == ">" else 0
            if depth == 0:
                return self.text[at : found.end()], found.end()
        raise TornError("'>' expected", min(len(self.text), at + _MAX_REPR))

    def _atom(self, at: int, path: Path, depth: int, *, is_key: bool) -> tuple[object, int]:
        number = _NUMBER.match(self.text, at)
        if number is not None:
            return _number(number.group()), number.end()
        special = _NON_FINITE.match(self.text, at)
        if special is not None:
            return float(special["sign"] + special["word"]), special.end()
        call = _CALL.match(self.text, at)
        if call is not None:
            return self._call(call, path, depth)
        word = (_BARE_KEY if is_key else _BARE).match(self.text, at)
        if word is None:
            raise TornError("a value expected", at)
        return _WORDS.get(word.group(), word.group()), word.end()

    def _call(self, call: re.Match[str], path: Path, depth: int) -> tuple[object, int]:
        args: list[object] = []
        named: dict[str, object] = {}
        known = len(self.places)
        at = self._skip(call.end())
        while not self.text.startswith(")", at):
            keyword = _KEYWORD.match(self.text, at)
            if keyword is not None:
                inner = (*path, keyword["name"])
                self.places[inner] = at
                named[keyword["name"]], at = self.value(keyword.end(), inner, depth)
            else:
                item, at = self.value(at, path, depth)
                args.append(item)
            at = self._after_item(at, ")")
        value = call_value(call["name"], args, named, self.text[call.start() : at + 1])
        if isinstance(value, dict) and args and isinstance(args[-1], list):
            self._name_pairs(args[-1], path, known)
        return value, at + 1

    def _name_pairs(self, pairs: list[object], path: Path, known: int) -> None:
        """OrderedDict([('a', 1)]): the place of item 0 is that of key `a`."""
        new = [self.places.popitem() for _ in range(len(self.places) - known)]
        size = len(path)
        for place, at in reversed(new):
            index = place[size] if len(place) > size else None
            pair = pairs[index] if isinstance(index, int) and index < len(pairs) else None
            if not isinstance(pair, tuple | list) or not pair:
                continue
            if len(place) == size + 1:
                self.places[(*path, str(pair[0]))] = at
            elif place[size + 1] == 1 and len(place) > size + 2:
                self.places[(*path, str(pair[0]), *place[size + 2 :])] = at


def _number(text: str) -> object:
    """An int or float; the text itself where Python refuses it (`1__0`)."""
    try:
        return (
            whole(int(text, 0))
            if not re.search(r"[.eE]", text) or text.lower().startswith(("0x", "-0x", "+0x"))
            else float(text)
        )
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
