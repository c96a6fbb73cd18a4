"""A probe's own words, for `explain` and the docs."""

from __future__ import annotations

import re

from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.probes.definition import Probe

HEADS = ("What it does", "Right answer", "Wrong answers", "Isolates", "References")


@dataclass(frozen=True, slots=True)
class ProbePage:
    """What is said about one probe."""

    code: str
    name: str
    title: str
    alias: str
    components: tuple[str, ...]
    after: tuple[str, ...]
    sections: dict[str, str]
    cases: tuple[str, ...]


def page_of(probe: Probe) -> ProbePage:
    """The page of a probe: the sections of its file, and its cases with their budgets."""
    body = probe.documentation.partition("\n\n")[2]
    marks = list(re.finditer(rf"^({'|'.join(HEADS)}): ", body, flags=re.MULTILINE))
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    sections = {mark.group(1): " ".join(body[mark.end() : end].split()) for mark, end in zip(marks, ends, strict=True)}
    missing = [head for head in HEADS if head not in sections]
    if missing:
        raise ValueError(f"the documentation of {probe.code} lacks {missing[0]!r}")
    cases = tuple(
        f"{case.name}: " + ", ".join(f"{steps} steps {family}" for family, steps in case.budget.items())
        for case in probe.cases
    )
    return ProbePage(probe.code, probe.name, probe.title, probe.alias, probe.components, probe.after, sections, cases)
