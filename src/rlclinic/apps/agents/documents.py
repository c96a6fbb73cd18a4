"""The documents for a project, made from the documentation of the rules and of the tools: they cannot drift."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from importlib.resources import files

from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.causes.catalogue import catalogue
from rlclinic.causes.explain import cause_page
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.rules.documentation import page_of
from rlclinic.rules.registry import RULES
from rlclinic.rules.rule import DecisionStep

SERVER = "rlclinic"
SKILL = "rlclinic"
DESCRIPTION = (
    "Find out why a reinforcement-learning run is not learning, what to change, and whether the change helps. Use when "
    "a return is stuck or collapses, entropy, KL, explained variance or gradients look odd, a run crashed, training is "
    "too slow, a trainer must be checked before real training, or runs are to be compared; for control and language "
    "models."
)
# Sections of a rule that the references repeat.
SECTIONS = ("What it sees", "Looks alike", "What to change")


@dataclass(frozen=True, slots=True)
class Definition:
    """One agent."""

    name: str
    when: str
    body: str


def skill_files(server: str = SERVER) -> dict[str, str]:
    """The skill's folder: relative path -> text. `server` is the name that the MCP server goes by."""
    families = dict.fromkeys(row.family for row in RULES)
    body = _filled(
        _text("skill.md"),
        {
            "server": server,
            "stations": "\n".join(f"   - {step}" for step in DecisionStep),
            "questions": "\n".join(["| question | tool |", "|---|---|", *_questions()]),
            "families": ", ".join(f"`{family}`" for family in families),
        },
    )
    return {
        "SKILL.md": f"---\nname: {SKILL}\ndescription: {DESCRIPTION}\n---\n\n{body}",
        "references/tools.md": tools_page(server),
        "references/causes.md": _causes(),
        "references/report.md": _text("report.md"),
        **{f"references/rules-{family}.md": _rules(family) for family in families},
    }


def definitions() -> tuple[Definition, ...]:
    """The agents."""
    table = tomllib.loads(_text("agents.toml"))
    return tuple(Definition(name, entry["when"].strip(), entry["body"].strip() + "\n") for name, entry in table.items())


def tools_page(server: str = SERVER) -> str:
    """Every tool with its parameters, from the functions themselves."""
    parts = [f"# Tools of the MCP server `{server}`\n"]
    for row in TOOLS:
        parameters = [
            f"`{key}`" + ("" if value.default is inspect.Parameter.empty else f" = {value.default!r}")
            for key, value in inspect.signature(row.function).parameters.items()
            if key != "workspace"
        ]
        words = " ".join(inspect.cleandoc(row.function.__doc__ or "").split())
        effect = {"reads": "", "starts": " Starts a process.", "stops": " Stops a process."}[row.effect]
        parts.append(f"## {row.name}\n\n{words}{effect}\n\nParameters: {', '.join(parameters) or 'none'}.\n")
    return "\n".join(parts)


def _questions() -> list[str]:
    return [f"| {row.question} | `{row.name}` |" for row in TOOLS if row.module != "elsewhere"]


def _rules(family: str) -> str:
    parts = [f"# Rules: {family.replace('_', ' ')}\n"]
    for row in RULES:
        if row.family == family:
            page = page_of(row)
            body = "\n".join(f"- {head}: {page.sections[head]}" for head in SECTIONS)
            parts.append(f"## {page.code} {page.name}\n\n{page.title}.\n\n{body}\n")
    return "\n".join(parts)


def _causes() -> str:
    parts = ["# Causes\n"]
    for entry in catalogue().values():
        body = "\n".join(f"- {head}: {text}" for head, text in cause_page(entry)["speaks"].items())
        parts.append(f"## {entry.id}\n\n{entry.meaning} ({entry.kind}, class {entry.cause_class}).\n\n{body}\n")
    return "\n".join(parts)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for key, value in values.items():
        text = text.replace(f"{{{{{key}}}}}", value)
    if "{{" in text:
        raise ValueError(f"a place of the text was not filled: {text[text.index('{{') :][:40]}")
    return text


def _text(name: str) -> str:
    return files("rlclinic.apps.agents.texts").joinpath(name).read_text(encoding="utf-8")
