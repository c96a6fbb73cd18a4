"""The formats a diagnosis can be written in. A format is one file and one row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Literal

from rlclinic.model.diagnosis import Diagnosis

Scope = Literal["one", "each", "all"]


@dataclass(frozen=True, slots=True)
class Context:
    """What a format may use beside the diagnoses."""

    width: int = 100
    """Cells of the terminal."""
    colour: bool = False
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
    styled: bool = False
    """Whether the function takes the width and the colour of a terminal."""


FORMATS = (
    Format("text", "diagnosis_text", "diagnosis_text", styled=True),
    Format("markdown", "diagnosis_markdown", "diagnosis_markdown"),
    Format("json", "diagnosis_json", "diagnosis_json", "one"),
    Format("html", "diagnosis_html", "diagnosis_html", "one"),
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
    style = {"width": context.width, "colour": context.colour} if row.styled else {}
    return "\n".join(function(diagnosis, **style) for diagnosis in diagnoses)
