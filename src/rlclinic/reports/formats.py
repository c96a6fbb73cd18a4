"""The formats a diagnosis can be written in. A format is one file and one row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from typing import Literal

from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.reports.page import Detail

Scope = Literal["one", "each", "all"]


@dataclass(frozen=True, slots=True)
class Context:
    """What a format may use beside the diagnoses."""

    width: int = 100
    """Cells of the terminal."""
    colour: bool = False
    detail: Detail = "normal"
    root: str = ""
    """Folder that file names are relative to."""
    guides: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By rule code the sections of its documentation."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    name: str
    module: str
    function: str
    scope: Scope = "each"
    """`one`: a report is of one run; `each`: reports follow each other; `all`: one report of all runs."""
    overview: str = ""
    """The function of `overview` that shows several runs; their reports follow where everything is asked for."""
    takes: tuple[str, ...] = ()
    """What of the context the function of a single run takes."""


FORMATS = (
    Format("text", "diagnosis_text", "diagnosis_text", overview="overview_text", takes=("width", "colour", "detail")),
    Format("markdown", "diagnosis_markdown", "diagnosis_markdown", overview="overview_markdown", takes=("detail",)),
    Format("json", "diagnosis_json", "diagnosis_json", "one"),
    Format("html", "diagnosis_html", "diagnosis_html", "one", "overview_html"),
    Format("github", "github", "diagnoses_github", "all"),
    Format("sarif", "sarif", "diagnoses_sarif", "all"),
)


def find_format(name: str) -> Format:
    """A format by its name."""
    return next(row for row in FORMATS if row.name == name)


def render(row: Format, diagnoses: Sequence[Diagnosis], context: Context) -> str:
    """Diagnoses in a format. Its file is imported only now."""
    function: Callable[..., str] = getattr(import_module(f"rlclinic.reports.{row.module}"), row.function)
    if row.scope == "all":
        return function(diagnoses, context)
    overview: str = ""
    if row.overview and len(diagnoses) > 1:
        overview = getattr(import_module("rlclinic.reports.overview"), row.overview)(diagnoses, context)
        if context.detail != "full" or row.scope == "one":
            return overview
    options = {name: getattr(context, name) for name in row.takes}
    reports = [function(diagnosis, **options) for diagnosis in diagnoses]
    return "\n".join([overview, *reports] if overview else reports)
