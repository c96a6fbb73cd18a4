"""Which framework, algorithm and environment a draft is of."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.readers.draft import Draft
from rlclinic.reference.algorithms import algorithm_in, algorithm_name
from rlclinic.reference.environment_names import ENVIRONMENT_ID, LONGEST, environment_of_folder
from rlclinic.reference.framework import Framework, framework, heads
from rlclinic.reference.patterns import compiled, matches
from rlclinic.reference.tasks import environment_of_path, task_of

# How far up the path a folder name may tell the algorithm or the environment.
PATH_PARTS = 5
# Characters of a line of a log that are looked at.
MAX_LINE = 400

_CLEANRL_NAME = re.compile(r"(?P<env>.+?)__(?P<exp>[\w.-]+?)__(?P<seed>\d+)__.+")
_SPLIT = re.compile(r"(train|test|val|valid|validation)([-_]?\d*([-_]of[-_]\d+)?)?")
_NOT_ENVIRONMENTS = frozenset({"", "none", "null", "true", "false"})


def identify_framework(draft: Draft) -> str:
    """The framework by what is in the files; `unknown` where nothing tells."""
    if draft.framework:
        return draft.framework
    names = draft.metric_names
    known = names, set(draft.settings), set(draft.text_tags), tuple(draft.log_marks)
    if draft.identified is None or draft.identified[0] != known:
        files = {name for entry in draft.place.entries for name in (entry.name, entry.relative)}
        # Whole names are looked up first: that is far cheaper than a pattern.
        likely = (
            mark
            for mark in _marks()
            if mark.metrics <= names and mark.files <= files and mark.settings <= draft.settings.keys()
        )
        clues = _Clues(draft, draft.place.folder.absolute().as_posix(), "\n".join(names), "\n".join(draft.settings))
        fitting = (mark.framework for mark in likely if all(_holds(*item, clues) for item in mark.others))
        draft.identified = known, next(fitting, "unknown")
    return draft.identified[1]


def identify_algorithm(draft: Draft, tables: Framework, configured: Mapping[str, object]) -> str:
    """The algorithm by config, by the names in the log, or by the path."""
    if draft.algorithm:
        return algorithm_name(draft.algorithm) or draft.algorithm.upper()
    for key in ("algorithm", "adv_estimator"):
        named = configured.get(key)
        if isinstance(named, str) and algorithm_name(named):
            return algorithm_name(named)
    from_path = _from_path(draft, algorithm_in)
    from_path = algorithm_name(_above(draft, tables.path.algorithm)) or from_path
    names = draft.metric_names
    by_names = [
        algorithm
        for algorithm, patterns in tables.algorithms.items()
        if any(_any_matches(pattern, names) for pattern in patterns)
    ]
    # A path says more than a name that several algorithms share, as long as the names do not contradict it.
    if from_path and (not by_names or from_path in by_names or not _contradicts(from_path, by_names[0], tables)):
        return from_path
    by_title = next((named for label in draft.labels if (named := algorithm_in(label))), "")
    return by_names[0] if by_names else tables.head.default_algorithm or by_title


def identify_environment(draft: Draft, tables: Framework, configured: Mapping[str, object]) -> str:
    """The environment by config, by an id in the path, or by the data that a language model trains on."""
    if draft.environment:
        return draft.environment
    named = configured.get("env_id")
    if isinstance(named, str) and named.lower() not in _NOT_ENVIRONMENTS and not set(named) & set("<$"):
        # An expression that makes the environment, such as Gym('Hopper-v4'), is known by the id in it.
        inside = ENVIRONMENT_ID.search(named) if "(" in named else None
        return inside.group() if inside is not None else named
    found = _data_set(configured.get("train_data")) or _from_path(draft, _environment_in)
    found = found or _above(draft, tables.path.environment) or _from_path(draft, environment_of_folder)
    found = found or next((name for label in draft.labels if (name := _environment_of_label(label))), "")
    return found or _mentioned(draft)


class Tables:
    """A framework's tables, and the common ones after them: those are parsed only when a name asks for them."""

    def __init__(self, framework_id: str) -> None:
        self.own = framework("common" if framework_id == "unknown" else framework_id)

    def __iter__(self) -> Iterator[Framework]:
        yield self.own
        yield framework("common")


def _contradicts(algorithm: str, by_names: str, tables: Framework) -> bool:
    return algorithm in tables.algorithms and by_names != algorithm


@dataclass(frozen=True, slots=True)
class _Mark:
    """What together gives a framework away: whole names of metrics, settings and files, and whatever else."""

    framework: str
    metrics: frozenset[str]
    settings: frozenset[str]
    files: frozenset[str]
    others: tuple[tuple[str, str], ...]


@cache
def _marks() -> tuple[_Mark, ...]:
    return tuple(_mark(head.id, line) for head in heads() for line in head.detect)


def _mark(framework_id: str, conditions: Iterable[str]) -> _Mark:
    pairs = [(kind, pattern) for kind, _, pattern in (text.partition(":") for text in conditions)]
    kinds = ("metric", "config", "file")
    metrics, settings, files = (
        frozenset(name for of, name in pairs if of == kind and "*" not in name) for kind in kinds
    )
    others = tuple((of, name) for of, name in pairs if of not in kinds or "*" in name)
    return _Mark(framework_id, metrics, settings, files, others)


class _Clues(NamedTuple):
    """What patterns are held against: names are lines of one text, so that one search looks at all of them."""

    draft: Draft
    place: str
    metrics: str
    settings: str


def _holds(kind: str, pattern: str, clues: _Clues) -> bool:
    draft = clues.draft
    match kind:
        case "metric":
            return _is_line(pattern, clues.metrics)
        case "file":
            return bool(draft.place.match(pattern))
        case "text":
            return any(matches(pattern, tag) for tag in draft.text_tags)
        case "config":
            return _is_line(pattern, clues.settings)
        case "log":
            return any(pattern in line for line in draft.log_marks)
        case _:
            return fnmatchcase(clues.place, pattern)


def _is_line(pattern: str, text: str) -> bool:
    # A plain search for how it begins spares most texts that of the pattern.
    return pattern.partition("*")[0] in text and _line_of(pattern).search(text) is not None


@cache
def _line_of(pattern: str) -> re.Pattern[str]:
    return re.compile("^" + ".+".join(map(re.escape, pattern.split("*"))) + "$", re.MULTILINE)


def _above(draft: Draft, levels: int | None) -> str:
    """The name of the folder so many levels above the run folder; 0 is the run folder itself."""
    if levels is None:
        return ""
    folder = draft.place.folder.absolute()
    return [folder, *folder.parents][levels].name if levels <= len(folder.parents) else ""


def _data_set(value: object) -> str:
    """The name of a data set by the path of its file: .../gsm8k/train.parquet is gsm8k."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, str):
        return ""
    parts = [part for part in re.split(r"[/\\]", first) if part not in {"", "~", ".", "data"}]
    names = [part.split(".")[0] for part in reversed(parts)]
    return next((name for name in names if not _SPLIT.fullmatch(name)), "")


def _any_matches(pattern: str, names: Collection[str]) -> bool:
    return any(map(compiled(pattern).fullmatch, names)) if "*" in pattern else pattern in names


def _from_path(draft: Draft, tell: object) -> str:
    assert callable(tell)
    names = [draft.name, *_path_parts(draft.place.root)]
    return next((str(found) for name in names if (found := tell(name))), "")


def _path_parts(path: Path) -> list[str]:
    return list(reversed(path.absolute().parts))[:PATH_PARTS]


def _environment_of_label(label: str) -> str:
    """A project may be called anything, `agent-v2` too: only well-known environments count."""
    named = environment_of_path(label)
    return named if named and task_of(named) is not None else environment_of_folder(label)


def _mentioned(draft: Draft) -> str:
    """The one well-known environment whose id stands in the lines of a log, such as the path of a video."""
    # Looking for a version first spares most lines the search of the pattern, which begins at every letter.
    lines = (line[:MAX_LINE] for line in draft.log_marks if "-v" in line)
    named = (found.group() for line in lines for found in ENVIRONMENT_ID.finditer(line))
    known = {name for name in dict.fromkeys(named) if task_of(name) is not None}
    return known.pop() if len(known) == 1 else ""


def _environment_in(name: str) -> str:
    cleanrl = _CLEANRL_NAME.fullmatch(name) if len(name) <= LONGEST else None
    if cleanrl:
        return cleanrl["env"]
    return environment_of_path(name)
