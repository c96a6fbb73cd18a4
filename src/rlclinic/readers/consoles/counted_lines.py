"""Home-made logs: lines, or blocks of lines, that count something and say a return.

    Episode 100   Average Score: 12.34
    Ep  12 | Reward:   20.00 | Avg:   18.51 | Eps: 0.886
    [INFO] 3DBall. Step: 12000. Time Elapsed: 9.1 s. Mean Reward: 1.2. Std of Reward: 0.7. Training.
    ********** Iteration 3 ************
    EpRewMean 12.3

Every number with words before it has a name; one of them is a counter. Only text that says a return at least a few
times is such a log, and only where no other dialect is found: words and numbers stand in all kinds of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows
from rlclinic.readers.guess import guess
from rlclinic.reference.framework import framework

ENOUGH_ROWS = 5
# Lines after a counter that may belong to its row, where they count nothing themselves.
MAX_BLOCK = 25
# Lines of a longer text of which some must say a return before all are looked at.
SAMPLE = 5_000
# Characters of a text that are looked at: about fifty thousand lines of the usual length.
MAX_CHARACTERS = 4 << 20
# A longer line is prose or data.
LONGEST_LINE = 600
MAX_NUMBERS, MAX_NAMES = 60, 24
LONGEST_NAME = 48
# What the last word before a number counts. `eps` is mostly an epsilon.
COUNTERS = {
    **dict.fromkeys(("episode", "episodes", "ep", "game", "games", "trial"), "episodes"),
    **dict.fromkeys(("iteration", "iter", "itr", "generation", "gen", "iterations"), "iterations"),
    **dict.fromkeys(("update", "updates"), "updates"),
    **dict.fromkeys(("step", "timestep", "timesteps", "frame", "frames", "t", "global_step"), "env_steps"),
    **dict.fromkeys(("timestepssofar", "totalenvsteps", "total_timesteps", "num_timesteps"), "env_steps"),
    **dict.fromkeys(("epoch", "epochs"), "epochs"),
}
# Words that stand alone in home-made logs and mean the return of an episode.
PLAIN = frozenset({"reward", "return", "score", "rewards", "avg", "average", "mean"})
_NUMBER = re.compile(
    r"(?<![\w.\-/])([-+]?(?:\d{1,18}(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?|[-+]?nan|[-+]?inf)"
    r"(?:%|s|ms|k)?(?![\w]|[.:\-]\d)"
)
_SEPARATORS = re.compile(r"[|,;()\[\]{}<>\t]|\. |\s-\s|\*{2,}|={2,}")
_WORDS = re.compile(r"[A-Za-z_][\w/\-]*(?: [A-Za-z_][\w/\-]*){0,3}")
# A progress bar counts too: 59/60 [00:59<00:10, 3.1it/s, reward=165.0].
_BAR = re.compile(r"(?<![\d./])(\d{1,12})/\d{1,12} \[\d{1,4}:\d\d")
_LETTER = re.compile("[A-Za-z]")
_UNIT = re.compile(r"^(?:s|ms|sec|seconds) ")


def parse_counted_lines(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of a home-made log; empty where too few lines say a return."""
    found = _told(lines[:SAMPLE])
    if found and len(lines) > SAMPLE:
        found = _told(lines)
    # Of several counters the one that most returns stand beside: the others count losses or evaluations.
    kinds = [kind for kind, _ in found]
    axis = max(dict.fromkeys(kinds), key=kinds.count, default="")
    told = [row for kind, row in found if kind == axis]
    if len({row.step for row in told}) < ENOUGH_ROWS:
        return ()
    return (console_rows("counted lines", axis, told),)


def _told(lines: Sequence[str]) -> list[tuple[str, ConsoleRow]]:
    """The rows that say a return, with what each counts."""
    rows: list[ConsoleRow] = []
    kinds: list[str] = []
    left = MAX_CHARACTERS
    for number, line in enumerate(lines, start=1):
        left -= len(line)
        if left < 0:
            break
        found = _named_numbers(line)
        if not found:
            continue
        bar = _BAR.search(line)
        if bar is not None:
            found = [("iteration", float(bar[1])), *found]
        counter = next((at for at, (name, value) in enumerate(found) if _counts(name) and value.is_integer()), None)
        if counter is None:
            _add(rows, number, found)
            continue
        name, value = found.pop(counter)
        kinds.append(_counts(name))
        rows.append(ConsoleRow(int(value), number, dict(reversed(found))))
    pairs = zip(kinds, rows, strict=True)
    return [(kind, row) for kind, row in pairs if any(_is_return(name) for name in row.values)]


def _add(rows: list[ConsoleRow], number: int, found: list[tuple[str, float]]) -> None:
    """A line of a block: its names join the row of the counter above it."""
    if rows and number - rows[-1].line <= MAX_BLOCK and len(rows[-1].values) < MAX_NAMES:
        for name, value in found:
            rows[-1].values.setdefault(name, value)


def _named_numbers(line: str) -> list[tuple[str, float]]:
    if len(line) > LONGEST_LINE or not any(mark.isdigit() for mark in line):
        return []
    return list(_pairs(line))[:MAX_NAMES]


def _pairs(line: str) -> Iterator[tuple[str, float]]:
    end = 0
    for match in islice(_NUMBER.finditer(line), MAX_NUMBERS):
        before, end = line[end : match.start()], match.end()
        name = _name(before) if _LETTER.search(before) else ""
        if name:
            yield name, float(match[1].replace(",", ""))


def _name(text: str) -> str:
    """The words right before a number; empty where there are none."""
    last = _SEPARATORS.split(text.rstrip(" :=#\t"))[-1].strip(" :=#*~-.'\"")
    words = _WORDS.findall(last.rpartition(":")[2] if ":" in last else last)
    found = _UNIT.sub("", words[-1].strip()) if words else ""
    return found if len(found) <= LONGEST_NAME else ""


def _counts(name: str) -> str:
    return COUNTERS.get(name.lower().split(" ")[-1].split("/")[-1], "")


@lru_cache(maxsize=512)
def _is_return(name: str) -> bool:
    if name.lower() in PLAIN or guess(name).startswith("return/"):
        return True
    found = framework("common").metrics.find(name)
    return found is not None and any(entry.name.startswith("return/") for entry in found[1])
