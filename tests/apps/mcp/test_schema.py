"""The tools as a client sees them: names, parameters and shapes stay as they are unless somebody means it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from rlclinic.apps.cli.main import app
from rlclinic.apps.mcp.published import described, published
from rlclinic.apps.mcp.registry import TOOLS
from tests.apps.mcp.talk import Talk

# The tools of gymnasium-solver's server with their parameters; `!` marks a required one.
SOLVER_TOOLS = {
    "list_environments": "filter",
    "list_variants": "!env_id",
    "get_config": "!env_id !variant",
    "list_runs": "env_filter algo_filter limit",
    "get_run_info": "!run_id",
    "get_run_metrics": "!run_id metric_names limit",
    "get_run_logs": "!run_id lines",
    "start_training": "!config_id max_env_steps overrides quiet wandb_mode",
    "stop_training": "!run_id",
    "get_training_status": "!run_id include_details",
    "wait_for_training_completion": "!run_id timeout poll_interval",
    "stream_training_logs": "!run_id follow filter_pattern lines",
    "list_checkpoints": "!run_id",
    "compare_runs": "!run_ids metrics",
    "get_best_run": "!env_id metric minimize",
    "plot_run_metric": "!run_id !metric_names x_axis title width height",
    "list_available_metrics": "!run_id filter",
    "get_metric_alerts": "!run_id",
    "get_metrics_range": "!run_id !start_epoch !end_epoch metric_names",
    "get_metrics_summary": "!run_id !metric_name",
    "get_training_progress": "!run_id",
    "correlate_metrics": "!run_id !metric_pairs",
    "get_metric_trend": "!run_id !metric window",
    "compare_to_baseline": "!run_id !baseline metric",
    "health_check": "!run_id",
    "plot_compare_runs": "!run_ids !metric x_axis title width height",
    "get_hyperparam_history": "!run_id params",
    "comprehensive_diagnostic": "!run_id include_recent_metrics include_full_config",
    "run_play": "run_id config_id episodes deterministic headless mode seed env_kwargs "
    "show_preprocessing show_cnn_filters",
    "run_inspect": "run_id port host share seed env_kwargs",
    "run_publish": "run_id repo private",
}


def listed(talk: Talk) -> dict[str, Any]:
    """The tools by name, as a client gets them."""
    return {tool.name: tool for tool in talk.wait(talk.client.list_tools()).tools}


def test_what_is_written_down_is_what_the_code_has() -> None:
    assert [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in published()] == described(), (
        "run python -m rlclinic.apps.mcp.published"
    )


def test_a_client_gets_what_is_written_down(talk: Talk) -> None:
    assert list(listed(talk).values()) == published()


def test_a_server_is_made_without_the_tools_and_what_they_need(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from rlclinic.apps.mcp.workspace import Workspace; "
        "from rlclinic.apps.mcp.server import build_server; build_server(Workspace(Path.cwd())); "
        "print([name for name in sys.modules if name == 'numpy' or name.startswith('rlclinic.apps.mcp.tools.')])"
    )
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert ended.stdout.strip() == "[]"


def test_every_tool_of_gymnasium_solvers_server_takes_its_parameters(talk: Talk) -> None:
    found = listed(talk)
    for name, words in SOLVER_TOOLS.items():
        wanted, schema = words.split(), found[name].input_schema
        assert {word.lstrip("!") for word in wanted} <= set(schema["properties"]), name
        assert set(schema.get("required", [])) == {word[1:] for word in wanted if word.startswith("!")}, name


def test_the_description_of_all_tools_fits_a_context(talk: Talk) -> None:
    tools = talk.wait(talk.client.list_tools()).tools
    assert sum(len(tool.description or "") + len(json.dumps(tool.input_schema)) for tool in tools) < 24_000
    assert all(tool.description and tool.title for tool in tools)


def test_every_tool_is_on_the_page_of_the_server() -> None:
    page = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")
    assert [row.name for row in TOOLS if f"`{row.name}`" not in page] == []


def test_the_command_tells_its_tools(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["mcp", "--root", str(tmp_path), "--json"])
    told = json.loads(result.output)
    assert told["schema"] == "rlclinic.mcp/1"
    assert [row["name"] for row in told["tools"]] == [row.name for row in TOOLS]
    assert CliRunner().invoke(app, ["mcp", "--root", str(tmp_path / "none")]).exception is not None
