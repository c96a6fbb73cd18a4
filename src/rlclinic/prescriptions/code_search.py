"""A suspected bug in the user's own checkout: file and line, and a diff where the code has a form that is known wrong.

The files are read as text: nothing is imported, run or followed out of the folder. A component that no metric points to
is still found by a wrong form of it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from rlclinic.causes.components import components, suspect_for
from rlclinic.model.diagnosis import Suspect
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Run
from rlclinic.readers.formats.logs.log_text import decode
from rlclinic.readers.place import scan
from rlclinic.readers.redaction.redact import redact
from rlclinic.reference.table_file import load_table

# Files that are read, and bytes of each: a checkout of a trainer is small.
MOST_FILES, MOST_BYTES = 2000, 400_000
# Places that are shown, and letters of each.
MOST_PLACES, WIDTH = 5, 120
# Tests and vendored packages are not what was trained with.
ASIDE = re.compile(r"(^|/)(tests?|site-packages|\.venv|venv|build|docs)/")


@dataclass(frozen=True, slots=True)
class Pattern:
    """How the code of one component looks."""

    find: re.Pattern[str]
    wrong: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    right: str = ""

    def is_wrong(self, line: str) -> bool:
        """Whether a line has the form that is known to be wrong."""
        if self.wrong is None or self.wrong.search(line) is None:
            return False
        return self.unless is None or self.unless.search(line) is None


@dataclass(frozen=True, slots=True)
class _Hit:
    component: str
    file: str
    number: int
    line: str
    is_wrong: bool


def located(run: Run, suspect: Suspect | None, code: Path) -> Suspect | None:
    """The suspect with its places in a checkout; a wrong form makes a suspect where the logs name none."""
    sources = sources_of(code)
    hits = [hit for name, text in sources.items() for hit in _hits(name, text)]
    wrong = [hit for hit in hits if hit.is_wrong]
    titles = {component.title: component.id for component in components()}
    wanted = titles.get(suspect.component, "") if suspect is not None else ""
    if wrong and wanted not in {hit.component for hit in wrong}:
        # Code that is surely wrong is a better witness than a metric.
        wanted = wrong[0].component
        suspect = suspect_for(run, wanted)
    if suspect is None:
        return None
    own = sorted((hit for hit in hits if hit.component == wanted), key=lambda hit: (not hit.is_wrong, hit.file))
    places = tuple(f"{hit.file}:{hit.number}: {redact(hit.line.strip())[:WIDTH]}" for hit in own[:MOST_PLACES])
    first = next((hit for hit in own if hit.is_wrong), None)
    return replace(suspect, places=places, diff=_diff(sources[first.file], first) if first is not None else "")


def sources_of(code: Path) -> Mapping[str, str]:
    """The Python files of a checkout as text."""
    if not code.is_dir():
        raise UsageError("--code is no folder", path=str(code), hint="name the folder that holds your training code")
    return dict(_sources(code))


def _sources(code: Path) -> Iterator[tuple[str, str]]:
    entries = [entry for entry in scan(code).match("*.py", "**/*.py") if not ASIDE.search(entry.relative)]
    for entry in sorted(entries, key=lambda item: item.relative)[:MOST_FILES]:
        yield entry.relative, decode(entry.read(MOST_BYTES))


def _hits(name: str, text: str) -> Iterator[_Hit]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or len(line) > 4 * WIDTH:
            continue
        for component, pattern in patterns().items():
            is_wrong = pattern.is_wrong(line)
            if is_wrong or pattern.find.search(line):
                yield _Hit(component, name, number, line, is_wrong)


def _diff(text: str, hit: _Hit) -> str:
    """The one line as it should be, as a patch would show it."""
    pattern, lines = patterns()[hit.component], text.splitlines()
    if pattern.wrong is None:
        return ""
    mended = [*lines[: hit.number - 1], pattern.wrong.sub(pattern.right, hit.line), *lines[hit.number :]]
    made = difflib.unified_diff(lines, mended, f"a/{hit.file}", f"b/{hit.file}", n=2, lineterm="")
    return redact("\n".join(made))


@cache
def patterns() -> Mapping[str, Pattern]:
    """The forms of every component."""
    table = load_table(Path(__file__).with_name("code_search.toml"))
    unknown = set(table) - {component.id for component in components()}
    if unknown:
        raise ValueError(f"code_search.toml: no such components: {', '.join(sorted(unknown))}")
    return {
        name: Pattern(
            re.compile(raw["find"]),
            re.compile(raw["wrong"]) if "wrong" in raw else None,
            re.compile(raw["unless"]) if "unless" in raw else None,
            raw.get("right", ""),
        )
        for name, raw in table.items()
    }
