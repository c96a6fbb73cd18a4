"""weights.toml with other numbers: its order, comments and priors stay, a row that rests on counts says on how many."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping

from bench.calibrate.estimate import Estimate
from rlclinic.causes.weights import CauseWeights

_HEADING = re.compile(r"^\[cause\.([a-z0-9-]+)\]$")
_REPLACED = ("for =", "expects =", "# estimated from")
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")


def rewritten(text: str, found: Mapping[str, Estimate]) -> str:
    """The table's text with the estimates; causes that it did not have follow at the end."""
    lines = list(_lines(text.splitlines(), found))
    known = set(tomllib.loads(text)["cause"])
    for cause, entry in found.items():
        if cause not in known:
            lines += [
                "",
                f"[cause.{cause}]",
                f"# estimated from {entry.instances} instances",
                f"prior = {entry.row.prior}",
            ]
            lines += _row(entry.row)
    return "\n".join(lines) + "\n"


def differences(before: Mapping[str, CauseWeights], found: Mapping[str, Estimate]) -> Iterator[str]:
    """One line per weight that changed."""
    for cause, estimate in found.items():
        for word, old, new in (
            ("for", before[cause].weights if cause in before else {}, estimate.row.weights),
            ("expects", before[cause].expects if cause in before else {}, estimate.row.expects),
        ):
            for name in sorted(set(old) | set(new)):
                if old.get(name, 0.0) != new.get(name, 0.0):
                    yield f"{cause} {word} {name}: {old.get(name, 0.0):g} -> {new.get(name, 0.0):g}"


def _lines(lines: list[str], found: Mapping[str, Estimate]) -> Iterator[str]:
    cause = ""
    for at, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading:
            cause = heading.group(1)
        if cause and line.startswith(_REPLACED):
            continue
        ends = at + 1 == len(lines) or not lines[at + 1].strip()
        yield line
        if heading and (count := found[cause].instances):
            yield f"# estimated from {count} instances"
        if cause and line.strip() and _is_last(lines, at, ends=ends):
            yield from _row(found[cause].row)


def _is_last(lines: list[str], at: int, *, ends: bool) -> bool:
    """Whether no line of the block that stays follows."""
    if ends:
        return True
    for line in lines[at + 1 :]:
        if not line.strip():
            return True
        if not line.startswith(_REPLACED):
            return False
    return True


def _row(row: CauseWeights) -> Iterator[str]:
    for word, weights in (("for", row.weights), ("expects", row.expects)):
        if weights:
            yield f"{word} = {{ {', '.join(f'{_key(name)} = {weight}' for name, weight in weights.items())} }}"


def _key(name: str) -> str:
    return name if _BARE.match(name) else f'"{name}"'
