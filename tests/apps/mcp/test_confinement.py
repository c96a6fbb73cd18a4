"""Nothing outside the root is read, nothing secret is told, and no argument makes the server fall over."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from rlclinic.apps.mcp.confine import inside
from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.model.errors import UsageError
from tests.apps.mcp.talk import SECRET, SOLVER, Talk, text_of
from tests.apps.mcp.test_tools import CALLS

ESCAPES = [
    "../outside/private_run",
    "..",
    "runs/../../outside/private_run",
    "runs/linked_out",
    "linked_out",
    "runs/linked_out/progress.csv",
    "/etc",
    "/etc/passwd",
    "/proc/self/environ",
    "~/.ssh",
    "file:///etc/passwd",
    "../outside/@last",
    "/@best",
    "../outside/private_run::x",
    "..\\outside",
    "runs/../../*",
    "\0",
    "a" * 5_000,
]
RUN_TOOLS = sorted(name for name, arguments in CALLS.items() if "run_id" in arguments and name != "run_play")
# Arguments of every kind that callers get wrong.
ODD: list[Any] = [
    None, True, -1, 0, 10**9, 1e308, float("nan"), "", " ", "@last", "@best", "*", "🦀" * 20, "\x1b[31m", "'; rm -rf /",
    "$(id)", "../..", "/etc/passwd", [], ["x"], [["a", "b"]], {}, {"learning_rate": "nan"}, {"a": {"b": []}}, SOLVER,
    "return/train", "%s%n", "[" * 50, "a" * 2_000,
]  # fmt: skip
ROUNDS = 160
# Long work is not started by accident: what these begin is tested where it ends.
HARMLESS = [row for row in TOOLS if row.effect == "reads"]


@pytest.mark.parametrize("name", ESCAPES, ids=range(len(ESCAPES)))
def test_a_name_that_leaves_the_root_is_refused(talk: Talk, name: str) -> None:
    for tool in ("get_run_info", "get_run_logs", "diagnose"):
        told = talk.error(tool, run_id=name)
        assert SECRET not in told
        assert "outside/private_run" not in told.replace(name.partition("::")[0], "")


@pytest.mark.parametrize("tool", RUN_TOOLS)
def test_every_tool_refuses_a_link_out_of_the_root(talk: Talk, tool: str) -> None:
    assert "leads out of the root" in talk.error(tool, **{**CALLS[tool], "run_id": "runs/linked_out"})


def test_whether_something_exists_outside_is_not_told(talk: Talk) -> None:
    there, gone = talk.error("get_run_info", run_id="/etc/passwd"), talk.error("get_run_info", run_id="/etc/nothing")
    assert there.replace("/etc/passwd", "X") == gone.replace("/etc/nothing", "X")


def test_a_config_that_links_out_of_the_root_is_not_listed(talk: Talk) -> None:
    names = [entry["env_id"] for entry in talk.data("list_environments")["environments"]]
    assert "CartPole-v1" in names
    assert "Leak-v0" not in names


def test_inside_takes_what_lies_inside(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    root = tmp_path.resolve()
    assert inside(root, "runs/../runs") == root / "runs"
    assert inside(root, str(root / "runs")) == root / "runs"
    with pytest.raises(UsageError):
        inside(root / "runs", "..")


@pytest.mark.parametrize("tool", sorted(CALLS))
def test_no_answer_holds_a_secret_or_a_place_of_this_machine(talk: Talk, mcp_root: Path, tool: str) -> None:
    result = talk.call(tool, **CALLS[tool])
    everything = result.model_dump_json()
    assert SECRET not in everything
    assert str(mcp_root) not in text_of(result)


def test_odd_arguments_never_crash_the_server(talk: Talk, mcp_root: Path) -> None:
    rng = random.Random(20260115)
    for _ in range(ROUNDS):
        row = rng.choice(HARMLESS)
        arguments = dict(CALLS.get(row.name, {}))
        for key in _parameters(talk)[row.name]:
            if rng.random() < 0.4 and key not in ("follow", "timeout", "poll_interval"):
                arguments[key] = rng.choice(ODD)
        result = talk.call(row.name, **arguments)
        told = result.model_dump_json()
        assert "failed inside rlclinic" not in told, (row.name, arguments, told)
        assert SECRET not in told, (row.name, arguments)
        assert "private_run" not in told, (row.name, arguments)
    assert talk.data("get_run_info", run_id=SOLVER)["run_id"] == SOLVER


@pytest.mark.parametrize(
    ("tool", "key"),
    [
        ("start_training", "config_id"),
        ("start_trial", "run_id"),
        ("probe_trainer", "trainer"),
        ("stop_training", "run_id"),
    ],
)
def test_odd_names_never_start_or_stop_anything(talk: Talk, mcp_root: Path, tool: str, key: str) -> None:
    for value in [*ODD, *ESCAPES, "os:system:ppo", "CartPole-v1:ppo;id", "../x:ppo", "sb3:PPO --root /"]:
        if value in (SOLVER, "@last", "@best"):
            continue
        told = talk.error(tool, **{key: value})
        assert "failed inside rlclinic" not in told, (value, told)
        assert SECRET not in told
    for overrides in [
        {"a b": 1},
        {"--root": "/"},
        {"env_id": "x"},
        {"seed": "x" * 600},
        {f"k{n}": n for n in range(80)},
    ]:
        if tool == "start_training":
            assert talk.call(tool, config_id="CartPole-v1:ppo", overrides=overrides).is_error
    assert not (mcp_root / ".rlclinic").exists()


def _parameters(talk: Talk) -> dict[str, list[str]]:
    if not hasattr(talk, "parameters"):
        tools = talk.wait(talk.client.list_tools()).tools
        talk.parameters = {tool.name: list(tool.input_schema.get("properties", {})) for tool in tools}  # type: ignore[attr-defined]
    return talk.parameters  # type: ignore[attr-defined,no-any-return]
