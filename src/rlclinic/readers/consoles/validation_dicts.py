"""The dict verl prints for its first and last validation, pretty-printed and often wrapped over many lines.

("Initial validation metrics: {'val-core/gsm8k/reward/mean@1': "
 "np.float64(0.25), 'val-aux/gsm8k/reward/std@1': 0.0}")
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.consoles.literal_dicts import read_dict
from rlclinic.readers.consoles.rows import numbers_of
from rlclinic.readers.formats.errors import FormatError
from rlclinic.readers.formats.literals.python_literal import parse_literal

# Lines of other processes that may stand between two pieces of the dict.
MAX_FOREIGN_LINES = 50

# Longest dict, in lines; a validation over a hundred sources prints about a thousand.
MAX_LINES = 20_000

VALIDATION = re.compile(r"(Initial|Final) validation metrics:")


@dataclass(frozen=True, slots=True)
class ValidationDict:
    """What was read, and how many lines it took."""

    values: dict[str, float]
    used: int
    problems: tuple[str, ...] = ()


def read_validation(lines: Sequence[str], index: int) -> ValidationDict:
    """Read the dict announced on this line."""
    text, used = _whole_text(lines, index)
    match = VALIDATION.search(text)
    brace = text.find("{", match.end()) if match else -1
    if brace < 0:
        return ValidationDict({}, used)
    found = read_dict(text, brace)
    if found is None:
        return ValidationDict({}, used)
    values = numbers_of(found.values)
    problem = f"line {index + 1}: validation dict not whole, {len(values)} numbers kept"
    return ValidationDict(values, used, () if found.whole else (problem,))


def _whole_text(lines: Sequence[str], index: int) -> tuple[str, int]:
    line = lines[index]
    match = VALIDATION.search(line)
    quote = match.start() - 1 if match else -1
    if quote < 0 or line[quote] not in "'\"":
        return line, 1
    pieces = [_unquoted(line[quote:])]
    if not line[:quote].rstrip().endswith("("):
        return pieces[0], 1
    used, foreign = 1, 0
    while index + used + foreign < len(lines) and used < MAX_LINES and foreign <= MAX_FOREIGN_LINES:
        following = lines[index + used + foreign]
        stripped = following.strip()
        if VALIDATION.search(following):
            break
        if not stripped.startswith(("'", '"')):
            foreign += 1
            continue
        used += foreign + 1
        foreign = 0
        pieces.append(_unquoted(stripped))
        if stripped.endswith(")"):
            break
    return "".join(pieces), used


def _unquoted(text: str) -> str:
    try:
        value, _ = parse_literal(text, 0)
    except FormatError:
        return text
    return value if isinstance(value, str) else text
