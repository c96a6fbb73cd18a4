"""Installing for coding agents: complete, repeatable, and never at the cost of what the user wrote."""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from rlclinic.apps.agents import documents
from rlclinic.apps.agents.documents import definitions, skill_files
from rlclinic.apps.agents.install import MANIFEST, install, plan
from rlclinic.apps.agents.targets import TARGETS, whole_files
from rlclinic.apps.cli.main import app
from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.causes.catalogue import catalogue
from rlclinic.model.errors import UsageError
from rlclinic.rules.registry import RULES
from rlclinic.rules.rule import DecisionStep

AGENTS = ("rl-run-debugger", "rl-training-optimizer", "rl-training-expert", "rl-language-model-diagnoser")


def everything() -> str:
    return "\n".join([*skill_files().values(), *(item.body for item in definitions())])


def test_every_tool_and_its_parameters_are_in_the_skill() -> None:
    page, skill = skill_files()["references/tools.md"], skill_files()["SKILL.md"]
    for row in TOOLS:
        section = page.split(f"## {row.name}\n")[1].split("\n## ")[0]
        for parameter in inspect.signature(row.function).parameters:
            assert parameter == "workspace" or f"`{parameter}`" in section, (row.name, parameter)
        assert row.module == "elsewhere" or f"| `{row.name}` |" in skill, row.name


def test_every_rule_cause_and_question_is_in_the_skill() -> None:
    files = skill_files()
    for row in RULES:
        assert f"## {row.code} {row.name}\n" in files[f"references/rules-{row.family}.md"], row.code
    for name in catalogue():
        assert f"## {name}\n" in files["references/causes.md"], name
    places = [files["SKILL.md"].index(step.value) for step in DecisionStep]
    assert places == sorted(places)


def test_only_tools_that_exist_are_named() -> None:
    known = {row.name for row in TOOLS}
    words = set(
        re.findall(r"`([a-z]+_[a-z_]+)`", "\n".join([skill_files()["SKILL.md"], *(d.body for d in definitions())]))
    )
    assert words - known - {"decision_path", *(row.family for row in RULES)} == set()


def test_a_place_that_nothing_fills_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_text", lambda name: "{{nothing}}")
    with pytest.raises(ValueError, match="not filled"):
        skill_files()


def test_the_rules_of_evidence_and_the_four_phases_are_taught() -> None:
    skill = skill_files()["SKILL.md"]
    for words in ("A metric that is not logged is unknown", "progress, not results", "never an instruction"):
        assert words in skill
    assert len(re.findall(r"^[1-4]\. \*\*", skill, re.MULTILINE)) == 4


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_an_installation_is_complete_and_repeatable(tmp_path: Path, name: str) -> None:
    first = install(tmp_path, name)
    assert {step.action for step in first} == {"create"}
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert {step.action for step in install(tmp_path, name)} == {"same"}
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    target = TARGETS[name]
    for agent in AGENTS:
        text = (tmp_path / target.agents / f"{agent}{target.ending}").read_text(encoding="utf-8")
        head = tomllib.loads(text) if target.ending == ".toml" else yaml.safe_load(text.split("---\n")[1])
        assert head["name"] == agent
        assert head["description"].startswith("Use ")
    skill = (tmp_path / target.skills / "rlclinic" / "SKILL.md").read_text(encoding="utf-8")
    head = yaml.safe_load(skill.split("---\n")[1])
    assert head["name"] == "rlclinic"
    assert len(head["description"]) <= 1024
    for link in re.findall(r"\]\(([^)]+)\)", skill):
        assert (tmp_path / target.skills / "rlclinic" / link).is_file()
    entry = (tmp_path / target.entry).read_text(encoding="utf-8")
    servers = json.loads(entry)["mcpServers"] if target.form == "json" else tomllib.loads(entry)["mcp_servers"]
    assert servers["rlclinic"] == {"command": sys.executable, "args": ["-P", "-m", "rlclinic", "mcp"]}


def test_a_file_that_the_user_changed_stays(tmp_path: Path) -> None:
    install(tmp_path, "claude")
    mine = tmp_path / ".claude" / "agents" / "rl-run-debugger.md"
    mine.write_text("my own words\n", encoding="utf-8")
    step = next(step for step in install(tmp_path, "claude") if step.path.endswith("rl-run-debugger.md"))
    assert step.action == "keep"
    assert "-my own words" in step.diff
    assert mine.read_text(encoding="utf-8") == "my own words\n"


def test_a_file_that_is_still_ours_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as older:
        old = {path: f"older\n{text}" for path, text in whole_files(TARGETS["claude"]).items()}
        older.setattr("rlclinic.apps.agents.install.whole_files", lambda target, server: old)
        install(tmp_path, "claude")
    steps = install(tmp_path, "claude")
    assert {step.action for step in steps} == {"update", "same"}
    assert not (tmp_path / ".claude/agents/rl-run-debugger.md").read_text(encoding="utf-8").startswith("older")


def test_other_servers_and_settings_stay(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}, "more": 1}', encoding="utf-8")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('model = "m" # mine', encoding="utf-8")
    install(tmp_path, "claude")
    install(tmp_path, "codex")
    data = json.loads((tmp_path / ".mcp.json").read_text(encoding="utf-8"))
    assert (data["mcpServers"]["other"], data["more"]) == ({"command": "x"}, 1)
    assert "rlclinic" in data["mcpServers"]
    text = (tmp_path / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert text.startswith('model = "m" # mine')
    assert tomllib.loads(text)["mcp_servers"]["rlclinic"]["command"] == sys.executable


@pytest.mark.parametrize("text", ["{ // comments\n}", "[]", '{"mcpServers": {"rlclinic": {"command": "mine"}}}'])
def test_an_entry_that_is_not_ours_to_change_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / ".mcp.json").write_text(text, encoding="utf-8")
    step = install(tmp_path, "claude")[-1]
    assert step.action == "keep"
    assert step.reason
    assert (tmp_path / ".mcp.json").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_the_server_may_be_entered_under_the_name_that_existing_agents_call(tmp_path: Path, name: str) -> None:
    install(tmp_path, name, "gymnasium-solver")
    target = TARGETS[name]
    entry = (tmp_path / target.entry).read_text(encoding="utf-8")
    servers = json.loads(entry)["mcpServers"] if target.form == "json" else tomllib.loads(entry)["mcp_servers"]
    assert servers == {
        "gymnasium-solver": {
            "command": sys.executable,
            "args": ["-P", "-m", "rlclinic", "mcp", "--name", "gymnasium-solver"],
        }
    }
    skill = (tmp_path / target.skills / "rlclinic" / "SKILL.md").read_text(encoding="utf-8")
    assert "MCP server `gymnasium-solver`" in skill
    assert {step.action for step in install(tmp_path, name, "gymnasium-solver")} == {"same"}


def test_the_original_servers_entry_stays_and_ours_is_told(tmp_path: Path) -> None:
    theirs = '{"mcpServers": {"gymnasium-solver": {"command": "python3", "args": ["mcp_server.py"]}}}'
    (tmp_path / ".mcp.json").write_text(theirs, encoding="utf-8")
    arguments = ["agents", "install", "--project", str(tmp_path), "--server", "gymnasium-solver"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert '"args": ["-P", "-m", "rlclinic", "mcp", "--name", "gymnasium-solver"]' in result.output
    assert (tmp_path / ".mcp.json").read_text(encoding="utf-8") == theirs


def test_a_name_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no name of a server"):
        install(tmp_path, "codex", "x]\n[evil")


def test_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project" / ".claude").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="leads out of the project"):
        install(tmp_path / "project", "claude")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["agents", "install", "--project", str(tmp_path), "--dry-run"])
    assert result.exit_code == 0
    assert "26 files would be written" in result.output
    assert list(tmp_path.iterdir()) == []


def test_the_command_shows_the_difference(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["agents", "install", "--project", str(tmp_path)]).exit_code == 0
    (tmp_path / ".claude/agents/rl-training-expert.md").write_text("mine\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["agents", "install", "--project", str(tmp_path)])
    assert "kept      .claude/agents/rl-training-expert.md" in result.output
    assert "-mine" in result.output
    told = json.loads(CliRunner().invoke(app, ["agents", "install", "--project", str(tmp_path), "--json"]).output)
    assert told["schema"] == "rlclinic.agents/1"
    assert (tmp_path / MANIFEST).is_file()
    assert [row["path"] for row in told["files"] if row["action"] == "keep"] == [".claude/agents/rl-training-expert.md"]


def test_a_plan_alone_changes_nothing(tmp_path: Path) -> None:
    assert {step.action for step in plan(tmp_path, "generic")} == {"create"}
    assert list(tmp_path.iterdir()) == []
