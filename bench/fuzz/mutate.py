"""Mutations of bytes and of text. Everything follows from the generator that is passed in."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from random import Random

from rlclinic.model.vocabulary import METRICS
from rlclinic.reference.hyperparameters import hyperparameters

NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
TOKEN = re.compile(r"[A-Za-z_][\w./]*|\d+|[^\s\w]")
EXTREMES = (
    "0", "-0", "-0.0", "1", "-1", "2", "0.5", "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "1e308", "-1e308",
    "1e309", "5e-324", "1e-320", "1e17", "1e18", "1e19", str(2**31), str(2**53), str(2**63), str(2**64), str(-(2**63)),
    "9" * 400,
    "-" + "9" * 400, "9" * 5000, "1" + "0" * 400 + ".5", "0x10", "1_000", "1e", "7.3e-", "lin_7.3e-", "lin_0.1", "1,5",
    "١٢", "²", "1700000000000", "1e15", "99999999999999", "-62135596801", "True", "null", "", "1e400", "0e0", "1e-400",
)  # fmt: skip
VALUES = (
    "null", "~", "[]", "{}", "''", "true", "[1, [2, [3]]]", '{"a": {"b": 1}}', "{'a': 1}", "*a", "&a [*a]", "<<: *a",
    "!!x y",
    "!!python/object/apply:os.system ['true']", "!!python/tuple [1]", "!!binary aGk=", "|\n  a", "module:Class", "a::b",
    "2026-99-99T99:99:99", "9999-12-31T23:59:59Z", "0001-01-01", "function(x)", "<lambda>", "tensor([1., nan])", "PPO",
    "array([], dtype=float64)", "Namespace(lr=1)", "Traceback (most recent call last):", "KeyError", "'", '"', "\\",
    "\\ud800",
)  # fmt: skip
ODD = (
    "\x00", "\x07", "\x1b[31m", "\x1b]8;;http://x\x07", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\x9b", "\u2028",
    "\u202e",
    "\u2066", "\ufeff", "\u200b", "\udc80", "\ud800", "\U0010ffff", "é", "\t", " ", "\n\n", "|", "=", ":", "#", "%",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "cp1252", "utf-7")
DEEP = (20, 200, 2_000, 30_000)


@cache
def words() -> tuple[str, ...]:
    """Names that a reader gives a meaning to."""
    return (
        *(entry.name for entry in METRICS),
        *hyperparameters(),
        "step",
        "time",
        "epoch",
        "r",
        "l",
        "t",
        "_step",
        "data",
    )


def mutate_bytes(data: bytes, rng: Random, other: bytes = b"") -> bytes:
    """One change that knows nothing of the format."""
    if not data:
        return rng.randbytes(rng.randrange(64))
    at = rng.randrange(len(data))
    size = min(len(data) - at, 1 + int(rng.paretovariate(0.6)))
    match rng.randrange(8):
        case 0:
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case 1:
            return data[:at]
        case 2:
            return data[:at] + data[at + size :]
        case 3:
            return data[: at + size] + data[at : at + size] * rng.choice((1, 2, 50)) + data[at + size :]
        case 4:
            return data[:at] + other[rng.randrange(len(other) + 1) :][:size] + data[at:]
        case 5:
            fill = rng.choice((b"\x00", b"\xff", b"\x7f", b"\x80"))
            return data[:at] + fill * min(size, 16) + data[at + min(size, 16) :]
        case 6:
            return data[:at] + rng.randbytes(min(size, 16)) + data[at + min(size, 16) :]
        case _:
            return data[at:] + data[:at]


def mutate_text(data: bytes, rng: Random) -> bytes:
    """One change that knows of numbers, names, lines, brackets and encodings."""
    text = data.decode("utf-8", "surrogateescape")
    changed = rng.choice(_TEXT)(text, rng)
    if not rng.randrange(60):
        return changed.encode(rng.choice(ENCODINGS), "replace")
    try:
        return changed.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return changed.encode("utf-8", "surrogatepass")


def _number(text: str, rng: Random) -> str:
    found = list(NUMBER.finditer(text))
    if not found:
        return text + rng.choice(EXTREMES)
    hit = rng.choice(found)
    return text[: hit.start()] + rng.choice(EXTREMES) + text[hit.end() :]


def _column(text: str, rng: Random) -> str:
    """The same cell of every line from some line on, so that a whole curve changes."""
    lines = text.split("\n")
    first, place = rng.randrange(len(lines)) if rng.randrange(3) else 1, rng.randrange(12)
    choices = [rng.choice(EXTREMES) for _ in range(rng.choice((1, 1, 2)))]

    def cell(line: str) -> str:
        found = list(NUMBER.finditer(line))
        if place >= len(found):
            return line
        return line[: found[place].start()] + rng.choice(choices) + line[found[place].end() :]

    return "\n".join(cell(line) if number >= first else line for number, line in enumerate(lines))


def _value(text: str, rng: Random) -> str:
    found = list(TOKEN.finditer(text))
    if not found:
        return rng.choice(VALUES)
    hit = rng.choice(found)
    return text[: hit.start()] + rng.choice((rng.choice(VALUES), rng.choice(words()))) + text[hit.end() :]


def _swap(text: str, rng: Random) -> str:
    found = list(TOKEN.finditer(text))
    if len(found) < 2:
        return text * 2
    one, two = sorted(rng.sample(found, 2), key=lambda hit: hit.start())
    return text[: one.start()] + two[0] + text[one.end() : two.start()] + one[0] + text[two.end() :]


def _lines(text: str, rng: Random) -> str:
    lines = text.split("\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at : at + rng.choice((1, 1, 5))]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at:at] = [lines[at]] * rng.choice((2, 30))
        case _:
            lines[at], lines[to] = lines[to], lines[at]
    return "\n".join(lines)


def _deep(text: str, rng: Random) -> str:
    count = rng.choice(DEEP)
    opening, closing = rng.choice(
        (("[", "]"), ("{", "}"), ("(", ")"), ('{"a":', "}"), ("- ", ""), ("[1,", ""), ("f(", ")"))
    )
    at = rng.randrange(len(text) + 1)
    return text[:at] + opening * count + closing * rng.choice((0, count)) + text[at:]


def _odd(text: str, rng: Random) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(ODD) * rng.choice((1, 1, 3)) + text[at:]


def _long(text: str, rng: Random) -> str:
    at = rng.randrange(len(text) + 1)
    return (
        text[:at]
        + rng.choice(("a", "9", " ", ",", "\n", "é", "=", "-", "a ", "a=", "\\")) * rng.choice((500, 20_000))
        + text[at:]
    )


def _key(text: str, rng: Random) -> str:
    """A key that stands there already, or one that means something, with a new value."""
    key, value = rng.choice(words()), rng.choice((*EXTREMES, *VALUES))
    shape = rng.choice(("{}: {}\n", '"{}": {},', "{}={} ", "| {} | {} |\n", "{} {}\n", "{},{}\n", "'{}': {}, "))
    at = text.find("\n", rng.randrange(len(text) + 1)) + 1
    return text[:at] + shape.format(key, value) + text[at:]


# Numbers are what the code after the parsers sees, so they change most often.
_TEXT: tuple[Callable[[str, Random], str], ...] = (
    *(_number,) * 5, *(_column,) * 4, *(_value,) * 2, _swap, _lines, _odd, _key, _key, _deep, _long,
)  # fmt: skip
