"""The token of the HTTP server comes from a file or the environment, never from the list of processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rlclinic.apps.cli.main import app
from rlclinic.apps.mcp import serve

NAME = "RLCLINIC_MCP_TOKEN"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tokens that servers were started with, and what their trainings would find in the environment."""
    found: list[str] = []
    monkeypatch.setattr(
        serve, "serve_http", lambda workspace, name, port, token: found.extend([token, os.environ.get(NAME, "")])
    )
    return found


def start(root: Path, *more: str) -> Result:
    return CliRunner().invoke(app, ["mcp", "--http", "--root", str(root), *more])


def test_it_is_read_from_a_file(tmp_path: Path, served: list[str]) -> None:
    (tmp_path / "token").write_text("from-the-file\n")
    assert start(tmp_path, "--token-file", str(tmp_path / "token")).exit_code == 0
    assert served == ["from-the-file", ""]


def test_it_is_taken_out_of_the_environment(tmp_path: Path, served: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "from-the-environment")
    assert start(tmp_path).exit_code == 0
    assert served == ["from-the-environment", ""], "what the server starts does not inherit it"


def test_without_one_the_server_makes_its_own(tmp_path: Path, served: list[str]) -> None:
    assert start(tmp_path).exit_code == 0
    assert served == ["", ""]


def test_it_is_no_argument_and_the_refusal_names_the_file_option(tmp_path: Path, served: list[str]) -> None:
    result = start(tmp_path, "--token", "seen-by-all")
    assert result.exit_code == 2
    assert "--token-file" in result.output
    assert "seen-by-all" not in result.output
    assert start(tmp_path, "--token-file", str(tmp_path / "none")).exit_code == 2
    assert served == []
