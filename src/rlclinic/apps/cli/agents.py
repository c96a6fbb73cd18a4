"""`rlclinic agents`: teach coding agents to use rlclinic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlclinic.apps.cli.output import write, write_json
from rlclinic.apps.cli.reading import FILE
from rlclinic.model.errors import UsageError

if TYPE_CHECKING:
    from rlclinic.apps.agents.install import Step

NAMES = ("claude", "codex", "cursor", "generic")
WORDS = {"create": "new", "update": "changed", "same": "unchanged", "keep": "kept"}
# Lines of a diff that are shown of one file; a new file is told by its length.
SHOWN = 60


@click.group()
def agents() -> None:
    """Teach coding agents to use rlclinic."""


@agents.command()
@click.option("--for", "name", type=click.Choice(NAMES), default="claude", show_default=True, help="Which agent.")
@click.option("--project", type=FILE, default=Path(), help="The project; here by default.")
@click.option("--server", default="rlclinic", show_default=True, help="Name of the MCP entry, or gymnasium-solver.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def install(name: str, project: Path, server: str, dry_run: bool, as_json: bool) -> None:
    """Write a skill, four agent definitions and the entry of the MCP server into a project.

    Shows what changes. A file that you changed since it was written stays as it is; running it again changes nothing.
    With --server gymnasium-solver the tools go by the names that agents written for that server call.
    """
    if not project.is_dir():
        raise UsageError("no such folder", path=str(project), hint="name your project with --project")
    try:
        from rlclinic.apps.agents.install import install as write_all
        from rlclinic.apps.agents.install import plan

        steps = plan(project, name, server) if dry_run else write_all(project, name, server)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("rlclinic"):
            raise
        raise UsageError(f"the MCP server needs {error.name}", hint="pip install 'rlclinic[mcp]'") from error
    if as_json:
        rows = [{"path": step.path, "action": step.action, "reason": step.reason, "diff": step.diff} for step in steps]
        write_json({"schema": "rlclinic.agents/1", "for": name, "written": not dry_run, "files": rows})
        return
    write("\n".join([*_lines(steps), _summary(steps, dry_run=dry_run)]) + "\n")


def _lines(steps: list[Step]) -> list[str]:
    lines: list[str] = []
    for step in steps:
        reason = f": {step.reason}" if step.reason else ""
        length = f" ({len(step.after.splitlines())} lines)" if step.action == "create" else ""
        lines.append(f"{WORDS[step.action]:9} {step.path}{length}{reason}")
        if step.action in ("update", "keep"):
            shown = step.diff.splitlines()
            lines += [f"    {line}" for line in shown[:SHOWN]]
            lines += [f"    ... {len(shown) - SHOWN} more lines"] if len(shown) > SHOWN else []
    return lines


def _summary(steps: list[Step], *, dry_run: bool) -> str:
    changed = sum(step.action in ("create", "update") for step in steps)
    kept = sum(step.action == "keep" for step in steps)
    verb = "would be written" if dry_run else "written"
    return f"{changed} files {verb}, {kept} kept as you changed them"
