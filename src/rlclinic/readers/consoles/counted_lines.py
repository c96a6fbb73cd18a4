"""Home-made logs: lines, or blocks of lines, that count something and say a return.

    Episode 100   Average Score: 12.34
    Ep  12 | Reward:   20.00 | Avg(100):   18.51 | Eps: 0.886
    [1200/50000] loss=0.31 reward=20.0
    Total T: 1200 Episode Num: 12 Episode T: 20 Reward: 20.000
    ********** Iteration 3 ************
    EpRewMean 12.3

Every number with words before it has a name. Which of the names count is decided over all rows, by their words and by
their rise. Only text that says a return at least a few times is such a log, and only where no other dialect is found:
words and numbers stand in all kinds of text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from rlclinic.model.series import FloatArray, StepAxis
from rlclinic.readers.axes import clock, counted
from rlclinic.readers.consoles.rows import ConsoleRow, ConsoleRows, console_rows
from rlclinic.readers.guess import is_bare_average, is_cost, is_of_a_step, is_of_episodes
from rlclinic.readers.named_by_file import as_return
from rlclinic.readers.return_names import canonical, is_full, is_return, is_sure_return, of_a_trainer

ENOUGH_ROWS = 5
# The same where the rows count on in the same words, as no prose does.
ENOUGH_ALIKE = 3
# Where nothing counts, more rows are asked for, unless they all have the same names.
ENOUGH_UNCOUNTED = 10
# Lines after the first of a row that may belong to it.
MAX_BLOCK = 25
# Lines of a longer text of which some must say a return before all are looked at.
SAMPLE = 5_000
# Characters of a text that are looked at: about fifty thousand lines of the usual length.
MAX_CHARACTERS = 4 << 20
# A longer line is prose or data.
LONGEST_LINE = 600
MAX_NUMBERS, MAX_NAMES = 60, 24
LONGEST_NAME = 48
PLACE = "of"
"""Name of a position that has no words: `1200/50000`, `1200:`."""
EPISODES = "return of the episode"
"""Name of a value that a line has beside the number of an episode and nothing else: `Episode 12: 31.5`."""
_NUMBER = re.compile(
    r"(?<![\w.\-/])([-+]?(?:\d{1,40}(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?|[-+]?\.?(?:nan|NaN|inf|Inf))"
    r"(%|s|ms|[kKM])?(?![\w]|[.:\-]\d)"
)
_NOT_A_NUMBER = re.compile(r"[ =.](?:nan|NaN)\b")
_TIMES = {"k": 1e3, "K": 1e3, "M": 1e6}
_SEPARATORS = re.compile(
    r"[|,;()\[\]{}<>\t│┃，；（）。]|\s/\s|\. |\s-\s|\*{2,}|={2,}|(?<![\w.])(?:with|and|got|after|in|for|at)(?!\w)"
)
_ENDS = re.compile(r"(?: (?:of|is|was|are|at|to))+$")
_WORDS = re.compile(r"(?<!\d)[^\W\d][\w/\-]*(?: [^\W\d][\w/\-]*){0,5}")
# A window is no value: `Avg(100)`, `(last 100 episodes)`, `over the last 10 games`.
_WINDOW = re.compile(
    r"(?<=\w)\s?\(\d{1,6}\)(?=\s{0,4}[:=]?\s{0,8}[-+.\dn])|(?<=\w)\s?\((?:last |past |over )?\d{1,6}[^()\d]{1,20}\)"
    r"|\(?\b(?:(?:over|of|for|in|the) ){0,2}(?:last|past|previous|recent) \d{1,6}(?: consecutive)?(?: \w{2,16})?\)?",
    re.IGNORECASE,
)
# torch-ac's four moments of one quantity, of which the first is its mean: `rR:μσmM 0.10 0.05 0.00 0.95`.
_MOMENTS = re.compile(r"(?<!\w)(rR|R|F):μσmM\s{1,4}(\S{1,20})(?:\s{1,4}[-+.\d]{1,20}){3}")
_MOMENT_NAMES = {"rR": "return", "R": "unshaped return", "F": "episode length"}
# A heading says of what the moments of its line are: `Reward: mean=3.06, min=1.92, max=10.06`.
_HEADED = re.compile(r"\s{0,16}([^\W\d][\w ]{1,30}):\s{1,4}(?:mean|avg|average)\s?[=:](?=\s?[-+.\dni])", re.IGNORECASE)
_OTHER_MOMENT = re.compile(r"\b(min|max|std|median)(?=\s?[=:])", re.IGNORECASE)
_TORCH_AC = re.compile(r"(?<![^\s|])(U|F|H|pL|vL|∇) (?=[-\d])")
_TORCH_AC_NAMES = {
    "U": "update",
    "F": "frames",
    "H": "entropy",
    "pL": "policy loss",
    "vL": "value loss",
    "∇": "grad norm",
}
# Numbers as libraries print them: [20.], tensor(20.1, device='cuda:0'), np.float64(20.0), [(0, '20.0')].
_WRAPPED = re.compile(
    r"(?:\[\(\d{1,3}, '|\[\s{0,2}|\b(?:tensor|array|np\.float\d\d|np\.int\d\d)\(\[?)([-+]?[\d.]+(?:[eE][-+]?\d+)?)"
    r"(?:'\)\]?|\]\)?|\]?[,)][^)\n]{0,60}\)|\))"
)
_WRAPPERS = ("[", "tensor(", "array(", "np.")
# A progress bar counts too: 59/60 [00:59<00:10, 3.1it/s, reward=165.0].
_BAR = re.compile(r"(?<![\d./])(\d{1,12})/\d{1,12} \[\d{1,4}:\d\d")
_POSITION = re.compile(
    r"\s{0,8}(?:\[\s{0,4}(\d{1,12})(?:\s?/\s?\d{1,12})?\]|(\d{1,12})/\d{1,12}(?:\s?[:,|]|\s\[[=>.]{5})|#?(\d{1,12}):?\s(?=[^\W\d]))"
)
_EITHER = re.compile(r"([^\W\d]+)/[^\W\d]+(?= [^\W\d])")
# Lines of source code that a logger or a traceback names, and times of day or stretches of it.
_NO_VALUE = re.compile(
    r"(?<![\w./\\-])[\w./\\-]{1,120}?\.(?:py|cc|cpp|rs)(?:\", line |:)\d{1,6}"
    r"|(?<!\w)(?:\d{1,4}h ?)?\d{1,3}m ?\d{1,2}(?:\.\d{1,6})?s(?!\w)"
)
# What stands at a count that is named behind its value: `after 200 episodes: 3.5`, `第3回合`.
_BEHIND = re.compile(
    r"(?<!\w)(?:(?P<after>after|lasted|took|survived)|at|in|for|over) (?:the )?"
    r"(?P<n>\d[\d,]{0,12}) (?P<of>[^\W\d]{3,12})\b"
    r"(?(after)|(?=\s{0,2}(?:[:=]|is\b|was\b)))|第\s?(?P<n_th>\d{1,9})\s?(?P<of_th>[^\W\d]{1,3}?)(?=[\W\d])"
)
# A value behind a count has the name that stands before it: `reward in episode 73 is 3.8`, `score for episode 5: 3`.
_JOINED = re.compile(r"[\s:=>~→-]{0,8}(?:is|was|are)?[\s:=>~→-]{0,8}")
_AT = re.compile(r".*(?<!\w)(?:in|for|at|after|of|on|during) ")
# What a value was compared with: `85 episodes with score > 200`.
_BOUND = re.compile(r"(?<![-=])[<>≥≤]=?\s*\Z")
# Digits as they are written elsewhere, and tabs as Python shows them inside quotes.
_DECIMAL_COMMA = re.compile(r"(?<![\w,.(\[])([-+]?\d{1,12}),(\d{1,2}|\d{4,12})(?![\w,.)\]])")
_WRITTEN = str.maketrans({"\u2212": "-", "\uff0d": "-"})
_LETTER = re.compile(r"[^\W\d_]")
_UNIT = re.compile(r"^(?:s|ms|sec|seconds) ")
Pairs = list[tuple[str, float]]


def parse_counted_lines(lines: Sequence[str]) -> tuple[ConsoleRows, ...]:
    """The rows of a home-made log; empty where too few lines say a return."""
    found = _read(lines[:SAMPLE])
    if found is not None and len(lines) > SAMPLE:
        found = _read(lines)
    return () if found is None else (found,)


def _read(lines: Sequence[str]) -> ConsoleRows | None:
    every = _rows(_told(lines))
    names = Counter(name for row in every for name in row.values)
    if len(every) >= ENOUGH_ALIKE:
        # What is said once, before the training or after it, is no metric: its settings, a summary.
        every = [_with_recurring(row, names) for row in every]
    every = [row for row in every if row.values and not any(map(is_of_a_step, row.values))]
    rows = [row for row in every if any(map(is_return, row.values))]
    if len(rows) < (enough := _fewest(rows)):
        # A trainer that prints its losses alone is one too: what is missing then is the return.
        rows = [row for row in every if of_a_trainer(row.values)]
        enough = _fewest(rows)
    names = Counter(name for row in rows for name in row.values)
    common = [name for name, count in names.items() if 2 * count > len(rows)]
    if len(rows) >= ENOUGH_ALIKE:
        rows = [_with_recurring(row, names) for row in rows]
    columns = {name: np.array([row.values.get(name, np.nan) for row in rows]) for name in common}
    if len(rows) < enough or not any(_varies(columns[name]) for name in common if name != PLACE):
        return None
    if not any(map(is_sure_return, common)):
        told = next(
            (name for name in common if is_return(name) and not is_bare_average(name) and not is_cost(name)), ""
        )
        rows = [_renamed(row, told) for row in rows]
    found = clock({name: column for name, column in columns.items() if name != PLACE})
    name, axis = found or (PLACE, _kind_of_place(columns[PLACE])) if found or PLACE in columns else ("", "rows")
    # What starts again with every update counts nothing.
    counts = columns[name][np.isfinite(columns[name])] if name else np.array([])
    if name and np.unique(counts).size < min(ENOUGH_ROWS, counts.size):
        for row in rows:
            row.values.pop(name, None)
        name, axis = "", "rows"
    if not name:
        name = next((each for each in common if each != PLACE and _counts_on(columns[each])), "")
        axis = "iterations" if name else "rows"
    is_log = any(is_sure_return(name) and _varies(columns[name]) for name in common) or of_a_trainer(common)
    alike = all(len(row.values) == len(common) for row in rows)
    if not name and (len(rows) < (enough if alike else ENOUGH_UNCOUNTED) or not is_log):
        return None
    if name != PLACE:
        rows = _with_others(rows, every, name)
    placed: list[ConsoleRow] = []
    for at, row in enumerate(rows):
        step = row.values.pop(name, np.nan) if name else float(at)
        if np.isfinite(step):
            placed.append(ConsoleRow(int(step), row.line, row.values))
        elif placed:
            # What does not say where it stands, such as an evaluation, belongs to what was said before it.
            placed[-1] = ConsoleRow(placed[-1].step, placed[-1].line, row.values | placed[-1].values)
    for row in placed:
        row.values.pop(PLACE, None)
    return console_rows("counted lines", axis, placed)


def _with_recurring(row: ConsoleRow, names: Counter[str]) -> ConsoleRow:
    return ConsoleRow(row.step, row.line, {name: value for name, value in row.values.items() if names[name] > 1})


def _fewest(rows: Sequence[ConsoleRow]) -> int:
    """From how many rows on these are a log: the more each of them says, the fewer."""
    if 2 * sum(is_full(row.values) for row in rows) > len(rows):
        return 1
    shared = set.intersection(*(set(row.values) for row in rows)) if len(rows) >= ENOUGH_ALIKE else set()
    counts = (np.diff([row.values[name] for row in rows]) > 0 for name in shared if counted(name))
    same = any(map(is_sure_return, shared)) and any(rises.all() for rises in counts)
    return ENOUGH_ALIKE if same else ENOUGH_ROWS


def _with_others(rows: list[ConsoleRow], every: Sequence[ConsoleRow], clock_name: str) -> list[ConsoleRow]:
    """With what a trainer says at other places of the same clock: a loss between two returns."""
    told = {row.line for row in rows}
    others = [
        row for row in every if row.line not in told and clock_name in row.values and any(map(canonical, row.values))
    ]
    both = sorted([*rows, *others], key=lambda row: row.line)
    places = [row.values[clock_name] for row in both if clock_name in row.values]
    return both if (np.diff(places) >= 0).all() else rows


def _told(lines: Sequence[str]) -> Iterator[tuple[int, Pairs]]:
    left = MAX_CHARACTERS
    for number, line in enumerate(lines, start=1):
        left -= len(line)
        if left < 0:
            return
        pairs = _named_numbers(line)
        if pairs:
            yield number, pairs


def _rows(told: Iterable[tuple[int, Pairs]]) -> list[ConsoleRow]:
    """Lines one after another are one row until one of their names comes again."""
    rows: list[ConsoleRow] = []
    spelling: dict[str, str] = {}
    for number, found in told:
        # One quantity may begin a sentence here and stand inside one there.
        pairs = [(spelling.setdefault(name.casefold(), name), value) for name, value in found]
        if (
            not rows
            or number - rows[-1].line > MAX_BLOCK
            or any(name in rows[-1].values for name, _ in pairs if name != PLACE)
        ):
            rows.append(ConsoleRow(0, number, {}))
        for name, value in pairs:
            if len(rows[-1].values) < MAX_NAMES:
                rows[-1].values.setdefault(name, value)
    return rows


def _renamed(row: ConsoleRow, name: str) -> ConsoleRow:
    """Where only a word that may mean anything says the return, it is called what it must be here."""
    return ConsoleRow(row.step, row.line, {as_return(key) if key == name else key: v for key, v in row.values.items()})


def _varies(column: FloatArray) -> bool:
    return np.unique(column).size > 0.2 * column.size


def _counts_on(column: FloatArray) -> bool:
    """Whether one number follows the other without a gap, whatever it is called."""
    if column.size < ENOUGH_ROWS or not np.isfinite(column).all():
        return False
    return bool((np.diff(column) == 1.0).all())


def _kind_of_place(column: FloatArray) -> StepAxis:
    """Episodes end at uneven steps; whoever prints every so many of something counts that."""
    moves = np.diff(column[np.isfinite(column)])
    uneven = moves.size > 1 and np.unique(moves).size > max(2, 0.2 * moves.size)
    return "env_steps" if uneven else "iterations"


def _named_numbers(line: str) -> Pairs:
    if len(line) > LONGEST_LINE or not (any(mark.isdigit() for mark in line) or _NOT_A_NUMBER.search(line)):
        return []
    line = line if line.isascii() else line.translate(_WRITTEN)
    line = _DECIMAL_COMMA.sub(r"\1.\2", line.replace("\\t", "\t"))
    line = _BEHIND.sub(_before, _WINDOW.sub("", _NO_VALUE.sub("", line)))
    if "μσmM" in line:
        line = _MOMENTS.sub(lambda found: f"{_MOMENT_NAMES[found[1]]} {found[2]}", line)
        line = _TORCH_AC.sub(lambda found: f"{_TORCH_AC_NAMES[found[1]]} ", line)
    headed = _HEADED.match(line)
    if headed is not None:
        of, rest = headed[1], line[headed.end() :]
        line = f"{of}=" + _OTHER_MOMENT.sub(lambda found: f"{of} {found[1]}", rest)
    bar, place = _BAR.search(line), _POSITION.match(line)
    if any(mark in line for mark in _WRAPPERS):
        line = _WRAPPED.sub(r"\1", line)
    found = list(islice(_pairs(line), MAX_NAMES))
    if not found:
        return []
    if bar is not None:
        return [("iteration", float(bar[1])), *found]
    if place is not None:
        return [(PLACE, float(place[place.lastindex or 1])), *found]
    return found


def _before(behind: re.Match[str]) -> str:
    """A count with its name before it; steps that something took are its length, and a window counts nothing."""
    if behind[0].startswith("over"):
        return ""
    if behind["n_th"]:
        return f"{behind['of_th']} {behind['n_th']}"
    kind = counted(behind["of"])
    if kind is None:
        return behind[0]
    if kind == "env_steps" and behind["after"]:
        return f", episode length {behind['n']}"
    return behind[0].replace(f"{behind['n']} {behind['of']}", f"{behind['of']} {behind['n']}")


def _pairs(line: str) -> Iterator[tuple[str, float]]:
    end, owner = 0, ""
    for match in islice(_NUMBER.finditer(line), MAX_NUMBERS):
        before, end = line[end : match.start()], match.end()
        name = _name(before) if _LETTER.search(before) and not _BOUND.search(before) else ""
        if not name and owner and _JOINED.fullmatch(before) and (owner != EPISODES or not line[end:].strip()):
            name, before = owner, ""
        count = counted(name) if name else None
        at = _AT.match(before) if count else None
        owner = _name(at[0].rstrip().rpartition(" ")[0]) if at else EPISODES if count and is_of_episodes(name) else ""
        if name:
            number = float(match[1].replace(",", "").replace(".n", "n").replace(".i", "i"))
            yield name, number * _TIMES.get(match[2], 1.0)


def _name(text: str) -> str:
    """The words right before a number; empty where there are none."""
    bare = _ENDS.sub("", _EITHER.sub(r"\1", text).rstrip(" :=#\t([>~$€£,'\"：→|│"))
    last = _SEPARATORS.split(bare)[-1].strip(" :=#*~-.'\"")
    found = _WORDS.findall(last.rpartition(":")[2] if ":" in last else last)
    name = _UNIT.sub("", found[-1].strip()) if found else ""
    return name if len(name) <= LONGEST_NAME else ""
