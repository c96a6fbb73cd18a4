"""Plain text of numbers: `rewards = [9.0, 12.0, ...]` as Python prints it, or all of them in one line or two."""

from __future__ import annotations

import re
from itertools import islice

import numpy as np

from rlclinic.model.numbers import number_in
from rlclinic.model.series import FloatArray
from rlclinic.readers.formats.tables.table import Table
from rlclinic.readers.named_by_file import as_return, metric_of_file, tells_return

# Shorter lists are results or shapes, not curves.
FEWEST = 10
MAX_LISTS, MAX_LINES = 50, 8
_LIST = re.compile(r"\[([-+\d.eE,\s]{9,})\]")
# What names a list, and how far before it: looked for there alone, as a log may have a megabyte of words.
_NAMED = re.compile(r"([^\W\d][\w /]{0,40}?)[\"']?\s{0,3}[=:]\s{0,3}(?:np\.|numpy\.)?(?:array\()?\Z")
REACH = 64
_BETWEEN = re.compile(r"[\s,;]+")


def number_lists(text: str, file: str) -> Table | None:
    """The lists of one length that a text holds, those that say a return first; None where none does."""
    own = metric_of_file(file)
    found: dict[str, FloatArray] = {}
    for match in islice(_LIST.finditer(text), MAX_LISTS):
        named = _NAMED.search(text[max(0, match.start() - REACH) : match.start()])
        name = (named[1] if named else own).strip()
        values = _values(match[1])
        if name and values is not None:
            found.setdefault(as_return(name) if tells_return(name) else name, values)
    if not found and own and text.count("\n") < MAX_LINES:
        values = _values(text.strip().split("\n")[0])
        found = {} if values is None else {own: values}
    first = next((name for name in found if tells_return(name)), None)
    if first is None:
        return None
    rows = found[first].size
    numbers = {name: values for name, values in found.items() if values.size == rows}
    return Table(tuple(numbers), rows, numbers, {}, {})


def _values(text: str) -> FloatArray | None:
    """The numbers of a text that holds nothing else."""
    cells = [number_in(cell) for cell in _BETWEEN.split(text.strip(" ,\t\r\n"))]
    numbers = [cell for cell in cells if cell is not None]
    return np.array(numbers) if len(numbers) == len(cells) >= FEWEST else None
