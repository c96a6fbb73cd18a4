"""Runs whose names are odd: with the sign that separates a member, or with characters that cannot be seen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.apps.mcp.bound import BoundTool
from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.model.errors import RlclinicError
from rlclinic.readers.discover import split_name
from rlclinic.readers.open import read
from rlclinic.store.names import resolve

UNSEEN = "odd\u202e\x9b31m\u2028name"


@pytest.fixture
def root(tmp_path: Path, runs: Path) -> Path:
    folder = tmp_path / "project"
    shutil.copytree(runs / "faults" / "high_lr_ppo_cartpole", folder / "runs" / "a::b")
    shutil.copytree(runs / "sb3" / "ppo_cartpole", folder / "runs" / UNSEEN)
    return folder


def ask(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(item) for item in arguments])
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.stdout


def called(workspace: Workspace, tool: str, **arguments: Any) -> Any:
    row = next(row for row in TOOLS if row.name == tool)
    return anyio.run(BoundTool(row, workspace).answer, arguments)


def test_the_longest_path_that_exists_is_meant(tmp_path: Path) -> None:
    for name in ("a", "a::b", "c"):
        (tmp_path / name).mkdir()
    base = str(tmp_path)
    expected = {
        "a": ("a", ""), "a::b": ("a::b", ""), "a::x": ("a", "x"), "a::b::x": ("a::b", "x"), "a::x::y": ("a", "x::y"),
        "c::b": ("c", "b"), "none": ("none", ""), "none::x::y": ("none", "x::y"), "a::": ("a", ""),
    }  # fmt: skip
    for name, (path, member) in expected.items():
        assert split_name(f"{base}/{name}") == (f"{base}/{path}", member)


def test_a_folder_with_the_separator_in_its_name_is_a_run_for_every_verb(root: Path) -> None:
    path = root / "runs" / "a::b"
    assert json.loads(ask("show", path, "--json"))["run"]["id"] == "a::b"
    assert json.loads(ask("diagnose", path, "--json"))["run"]["path"] == str(path)
    assert json.loads(ask("runs", root / "runs", "--json"))["count"] == 2
    assert json.loads(ask("compare", path, root / "runs" / UNSEEN, "--json"))["schema"].startswith("rlclinic.compare")
    assert "learning_rate" in json.loads(ask("fix", path, "--json"))["diff"]
    assert resolve("a::b", root=root / "runs") == [str(path)]


def test_a_config_with_the_separator_in_its_name_can_be_named(root: Path) -> None:
    path = root / "runs" / "a::b"
    fixed = json.loads(ask("fix", path, "--config", path / "config.yaml", "--json"))
    assert (fixed["file"], fixed["reason"]) == (str(path / "config.yaml"), "")


def test_a_member_of_a_file_below_such_a_folder_is_found(tmp_path: Path, runs: Path) -> None:
    source = next((runs / "trackio").rglob("*.db"))
    shutil.copytree(source.parent, tmp_path / "a::b")
    names = resolve(str(tmp_path / "a::b"))
    assert names
    assert all(read(name).path == str(tmp_path / "a::b" / source.name) for name in names)


@pytest.mark.parametrize("name", ["a::b", "runs/a::b"])
def test_the_server_finds_it_by_id_and_path(root: Path, name: str) -> None:
    workspace = Workspace(root.resolve())
    assert called(workspace, "get_run_info", run_id=name).structured_content["run_id"] == "a::b"
    fix = called(workspace, "propose_fix", run_id=name, config="runs/a::b/config.yaml")
    assert "learning_rate" in fix.structured_content["diff"]


def test_whether_a_path_outside_the_root_exists_is_not_told(root: Path) -> None:
    (root.parent / "there::x").mkdir()
    workspace = Workspace(root.resolve())
    told = []
    for name in ("../there::x", "../none::x"):
        with pytest.raises(RlclinicError) as refused:
            workspace.locate(name)
        told.append(refused.value.message.replace("none", "there"))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    "verb",
    [
        ["show"],
        ["show", "--json"],
        ["diagnose"],
        ["diagnose", "--json"],
        ["runs"],
        ["runs", "--json"],
        ["fix", "--json"],
    ],
)
def test_no_verb_prints_what_cannot_be_seen(root: Path, verb: list[str]) -> None:
    shown = ask(verb[0], root / "runs" / UNSEEN, *verb[1:])
    assert shown
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_no_text_of_the_server_holds_what_cannot_be_seen(root: Path) -> None:
    workspace = Workspace(root.resolve())
    for tool, arguments in {
        "get_run_info": {"run_id": UNSEEN},
        "list_runs": {},
        "diagnose": {"run_id": UNSEEN},
    }.items():
        found = called(workspace, tool, **arguments)
        assert not found.is_error
        text = "\n".join(block.text for block in found.content if block.type == "text")
        assert all(char.isprintable() or char == "\n" for char in text), tool
