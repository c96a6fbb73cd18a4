"""Write the documents into a project: what is missing or still ours is written, what the user changed stays."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Literal

from rlclinic.apps.agents.documents import SERVER
from rlclinic.apps.agents.targets import INDENT, TARGETS, Target, entry_object, entry_toml, whole_files
from rlclinic.model.errors import UsageError
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.store.files import write_whole

# What we wrote, by path and hash, so that a file that the user changed since is known.
MANIFEST = ".rlclinic/agents.json"
SCHEMA = "rlclinic.agents/1"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Action = Literal["create", "update", "same", "keep"]


@dataclass(frozen=True, slots=True)
class Step:
    """What is done with one file."""

    path: str
    action: Action
    before: str
    after: str
    reason: str = ""
    """Why a file is kept as it is."""

    @property
    def diff(self) -> str:
        """What changes, or for a kept file what would."""
        names = (f"a/{self.path}" if self.before else "/dev/null", f"b/{self.path}")
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True), self.after.splitlines(keepends=True), *names
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def plan(project: Path, name: str, server: str = SERVER) -> list[Step]:
    """What installing for a coding agent would do; nothing is written. `server` is the name of the MCP entry."""
    target, root = TARGETS[name], project.resolve()
    if not _NAME.fullmatch(server):
        raise UsageError(f"{server!r} is no name of a server", hint="letters, digits, - and _")
    known = _manifest(root)
    steps = [_whole(root, path, text, known) for path, text in whole_files(target, server).items()]
    return [*steps, _entry(root, target, server)]


def install(project: Path, name: str, server: str = SERVER) -> list[Step]:
    """Write what is missing or still ours, and remember it."""
    root, steps = project.resolve(), plan(project, name, server)
    written = {step.path: step.after for step in steps if step.action in ("create", "update")}
    try:
        for path, text in written.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(root / path, text)
        hashes = {path: _hash(text) for path, text in whole_files(TARGETS[name], server).items()}
        ours = {step.path for step in steps if step.action != "keep"}
        kept = {**_manifest(root), **{path: value for path, value in hashes.items() if path in ours}}
        (root / MANIFEST).parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"schema": SCHEMA, "files": dict(sorted(kept.items()))}, indent=INDENT) + "\n"
        write_whole(root / MANIFEST, text)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror or error}", path=str(root)) from error
    return steps


def _whole(root: Path, path: str, text: str, known: dict[str, str]) -> Step:
    """A file that is ours alone."""
    before = _read(root, path)
    if before is None:
        return Step(path, "create", "", text)
    if before == text:
        return Step(path, "same", before, text)
    if known.get(path) == _hash(before):
        return Step(path, "update", before, text)
    return Step(path, "keep", before, text, "you changed it, or it is not ours")


def _entry(root: Path, target: Target, server: str) -> Step:
    """The entry of the server in a file that may hold others."""
    before = _read(root, target.entry)
    return (_json_entry if target.form == "json" else _toml_entry)(target.entry, before, server)


def _json_entry(path: str, before: str | None, server: str) -> Step:
    wanted = entry_object(server)
    try:
        data = json.loads(before) if before and before.strip() else {}
        servers = data.setdefault("mcpServers", {})
        there = servers.get(server)
    except (ValueError, AttributeError):
        example = json.dumps({"mcpServers": {server: wanted}}, indent=INDENT) + "\n"
        return Step(path, "keep", before or "", example, "it is no JSON object of servers; add the entry by hand")
    if there is not None:
        return _there(path, before or "", ours=there == wanted, server=server)
    servers[server] = wanted
    after = json.dumps(data, indent=INDENT, ensure_ascii=False) + "\n"
    return Step(path, "update" if before is not None else "create", before or "", after)


def _toml_entry(path: str, before: str | None, server: str) -> Step:
    try:
        there = tomllib.loads(before or "").get("mcp_servers", {}).get(server)
    except (tomllib.TOMLDecodeError, AttributeError):
        return Step(path, "keep", before or "", entry_toml(server), "it is not valid TOML; add the entry by hand")
    if there is not None:
        return _there(path, before or "", ours=there == entry_object(server), server=server)
    joint = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    return Step(
        path, "update" if before is not None else "create", before or "", f"{before or ''}{joint}{entry_toml(server)}"
    )


def _there(path: str, before: str, *, ours: bool, server: str) -> Step:
    """A file that has an entry of this name already."""
    reason = "" if ours else f"it has an entry of its own called {server}; ours is {json.dumps(entry_object(server))}"
    return Step(path, "same" if ours else "keep", before, before, reason)


def _read(root: Path, path: str) -> str | None:
    """The text of a file of the project; refused where a link leads out of it."""
    place = root / path
    if not place.resolve().is_relative_to(root):
        raise UsageError("this path leads out of the project", path=path, hint="remove the link")
    try:
        return place.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot be read: {error}", path=path) from error


def _manifest(root: Path) -> dict[str, str]:
    try:
        data = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found = data.get("files") if isinstance(data, dict) else None
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
