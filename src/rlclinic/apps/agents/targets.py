"""Where each coding agent looks for skills, agent definitions and MCP servers, and in which form."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Literal

from rlclinic.apps.agents.documents import SERVER, SKILL, Definition, definitions, skill_files
from rlclinic.model.lazy_dataclass import dataclass

INDENT = 2


@dataclass(frozen=True, slots=True)
class Target:
    """One coding agent. Paths are relative to the project."""

    name: str
    skills: str
    agents: str
    ending: str
    write_agent: Callable[[Definition], str]
    entry: str
    """The file that names MCP servers."""
    form: Literal["json", "toml"]


def _markdown(definition: Definition) -> str:
    when = " ".join(definition.when.split())
    return (
        f"---\nname: {definition.name}\ndescription: {json.dumps(when, ensure_ascii=False)}\n---\n\n{definition.body}"
    )


def _toml(definition: Definition) -> str:
    when = " ".join(definition.when.split())
    return (
        f"name = {json.dumps(definition.name)}\n"
        f"description = {json.dumps(when, ensure_ascii=False)}\n"
        f'developer_instructions = """\n{definition.body}"""\n'
    )


TARGETS = {
    target.name: target
    for target in (
        Target("claude", ".claude/skills", ".claude/agents", ".md", _markdown, ".mcp.json", "json"),
        Target("codex", ".agents/skills", ".codex/agents", ".toml", _toml, ".codex/config.toml", "toml"),
        Target("cursor", ".cursor/skills", ".cursor/agents", ".md", _markdown, ".cursor/mcp.json", "json"),
        Target("generic", ".agents/skills", ".agents/agents", ".md", _markdown, ".mcp.json", "json"),
    )
}


def whole_files(target: Target, server: str = SERVER) -> dict[str, str]:
    """The files that are ours alone: path -> text."""
    found = {f"{target.skills}/{SKILL}/{name}": text for name, text in skill_files(server).items()}
    found |= {f"{target.agents}/{item.name}{target.ending}": target.write_agent(item) for item in definitions()}
    return found


def entry_object(server: str = SERVER) -> dict[str, object]:
    """The entry of the MCP server. Clients name its tools after the entry; the server itself goes by the same name.

    It names this interpreter, so that it works in a client that knows of no virtual environment. With `-P` no
    `rlclinic.py` in the folder where the client stands is run in place of us.
    """
    name = [] if server == SERVER else ["--name", server]
    return {"command": sys.executable, "args": ["-P", "-m", "rlclinic", "mcp", *name]}


def entry_toml(server: str = SERVER) -> str:
    """The same as a section of a TOML file."""
    entry = {key: json.dumps(value) for key, value in entry_object(server).items()}
    return f"[mcp_servers.{server}]\ncommand = {entry['command']}\nargs = {entry['args']}\n"
