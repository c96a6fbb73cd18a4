"""Every answer about a run says what `diagnose` says and what its files say: one number for one thing in all tools."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from rlclinic import diagnose, read
from rlclinic.apps.mcp.registry import TOOLS
from rlclinic.apps.mcp.server import build_server
from rlclinic.apps.mcp.workspace import Workspace
from rlclinic.facts.metric_summary import CONFIGURED_AS
from rlclinic.facts.samples import review_samples
from rlclinic.model.diagnosis import Diagnosis
from rlclinic.model.errors import NothingReadable
from rlclinic.model.series import Series
from rlclinic.readers.samples import read_samples
from rlclinic.reports.diagnosis_json import diagnosis_object
from tests.apps.mcp.talk import RUNS, Talk
from tests.apps.mcp.test_frameworks import PLACES

MORE = (
    "sb3/ppo_cartpole", "sb3/ppo_cartpole_high_lr", "gymnasium_solver/runs/local-20260115-102500",
    "gymnasium_solver/runs/local-20260115-104500", "faults/slow_lr_ppo_cartpole", "faults/fast_lr_ppo_cartpole",
)  # fmt: skip
# A third of the frameworks; the others are asked with all recorded runs.
SOME = tuple(sorted({*sorted(PLACES.values())[::3], *(place for place in MORE if (RUNS / place).exists())}))
EVERY = tuple(
    row["path"] for row in yaml.safe_load((RUNS.parent / "expected.yaml").read_text(encoding="utf-8"))
    if (RUNS / row["path"]).exists() and row["path"] not in SOME
)  # fmt: skip
# One publishes and tells nothing; the others answer about a problem, for which a run may give facts, or about data.
ABOUT_NO_RUN = {"run_publish", "advise"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """The SDK's client beside the server, in this process."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("agreement")
    patch.setenv("RLCLINIC_INDEX", str(folder / "index.sqlite"))
    patch.setenv("RLCLINIC_LEDGER", str(folder / "trials.sqlite"))
    opened = Talk(build_server(Workspace(RUNS.resolve())))
    yield opened
    opened.close()
    patch.undo()


def near(value: float | None) -> Any:
    """Equal to six digits; None is None."""
    return None if value is None else pytest.approx(value, rel=1e-5, nan_ok=True)


def check(here: Talk, place: str) -> None:
    """Put every question about one run, and hold the answers against each other, the diagnosis and the files."""
    run = read(RUNS / place)
    found = diagnose(run)
    _check_diagnosis(here, place, found)
    _check_numbers(here, place, found)
    _check_metrics(here, place, found)
    _check_others(here, place, found)
    _check_fix(here, place, found)
    _check_logs(here, place, found)
    _check_watching(here, place, found)
    if run.returns is not None:
        _check_curves(here, place, run.returns)
        _check_baseline(here, place, run.returns)


def _check_diagnosis(here: Talk, place: str, found: Diagnosis) -> None:
    expected = diagnosis_object(found)
    said = here.data("diagnose", run_id=place)
    short = here.data("comprehensive_diagnostic", run_id=place)
    health = here.data("health_check", run_id=place)
    assert said["verdict"] == short["status"]["verdict"] == health["verdict"] == expected["verdict"]
    assert [item["id"] for item in said["causes"]] == [item["id"] for item in expected["causes"]][: len(said["causes"])]
    if found.causes:
        assert short["leading_cause"]["id"] == said["causes"][0]["id"]
    told = [item["instruction"] for item in said["prescriptions"]]
    assert told == [item["instruction"] for item in expected["prescriptions"]][: len(told)]
    assert health["anomaly_count"] == said["findings_total"] == len(expected["findings"])
    assert health["rules_not_checked"] == said["not_checked"] == len(expected["not_checked"])
    assert said["run"]["return"]["best"] == near(expected["run"]["return"]["best"])


def _check_numbers(here: Talk, place: str, found: Diagnosis) -> None:
    run, goal = found.run, found.goal
    info = here.data("get_run_info", run_id=place)
    progress = here.data("get_training_progress", run_id=place)
    status = here.data("get_training_status", run_id=place)
    short = here.data("comprehensive_diagnostic", run_id=place)
    ended = here.data("wait_for_training_completion", run_id=place, timeout=0)
    best = run.returns.highest if run.returns else None
    level = goal.level if goal else run.threshold
    for performance in (progress["performance"], status["performance"], short["performance"]):
        assert performance["best_reward"] == near(best)
        assert performance["reward_threshold"] == near(level) == info["reward_threshold"]
        solved = found.verdict.value == "solved"
        assert performance["is_solved"] == (solved if solved or (level is not None and best is not None) else None)
    for part in (progress["progress"], status["progress"], short["progress"]):
        assert (part["total_env_steps"], part["steps"], part["budget"]) == (
            near(run.env_steps), near(run.steps), near(run.budget)
        )  # fmt: skip
    for tool in ("diagnose", "show_run"):
        assert here.data(tool, run_id=place)["run"]["return"]["threshold"] == near(level)
    assert info["env_steps"] == near(run.env_steps)
    assert info["status"] == progress["status"] == status["status"] == run.status.state.value
    assert ended["final_metrics"] == info["metrics_summary"]
    assert ended["completion_reason"] == info["stopping_reason"]
    _check_checkpoints(here, place, found)


def _check_checkpoints(here: Talk, place: str, found: Diagnosis) -> None:
    listed = here.data("list_checkpoints", run_id=place)
    assert len(listed["checkpoints"]) == len(found.run.checkpoints) or "checkpoints" in listed.get("left_out", "")
    for item in listed["checkpoints"]:
        assert item["env_steps"] is None or found.run.env_steps is None or item["env_steps"] <= found.run.env_steps
    folder = RUNS / place / "checkpoints"
    if found.run.framework in ("gymnasium-solver", "rlclinic") and folder.is_dir():
        names = {item["name"] for item in listed["checkpoints"]}
        link = folder / "@last"
        assert listed["has_last"] == (link.is_symlink() and link.readlink().name in names)


def _check_metrics(here: Talk, place: str, found: Diagnosis) -> None:
    run = found.run
    shown = here.data("show_run", run_id=place)
    assert shown["run"]["return"]["best"] == near(run.returns.highest if run.returns else None)
    listed = here.data("list_available_metrics", run_id=place)
    assert listed["total_metrics"] == shown["metrics_total"] == len(run.series)
    for entry in listed["details"]:
        series = next(item for item in run.series.values() if item.logged_as == entry["name"])
        assert (entry["points"], entry["last"]) in [(len(series), near(series.last)), (len(series), "nan")]
    if run.returns is None:
        return
    name = run.returns.logged_as
    rows = here.data("get_run_metrics", run_id=place, metric_names=[name, "no such metric"])
    assert rows["unknown_metrics"] == ["no such metric"]
    logged = {float(value) for value in run.returns.values}
    values = [row[name] for row in rows["metrics"] if isinstance(row.get(name), int | float)]
    assert all(any(value == near(other) for other in logged) for value in values[::7])
    summary = here.data("get_metrics_summary", run_id=place, metric_name=name)
    assert (summary["max"], summary["last"]) == (near(run.returns.highest), near(run.returns.last))


def _check_others(here: Talk, place: str, found: Diagnosis) -> None:
    run = found.run
    compared = here.data("compare_runs", run_ids=[place, "sb3/ppo_cartpole"])
    outcome = compared["outcomes"][0]
    assert (outcome["verdict"], outcome["best"]) == (
        found.verdict.value, near(run.returns.highest if run.returns else None)
    )  # fmt: skip
    for name, course in here.data("get_hyperparam_history", run_id=place)["summary"].items():
        assert course["last"] == near(run.series[name].last if name in run.series else None)
        key = CONFIGURED_AS.get(name, name)
        assert course["configured"] in (None, run.config.get(key), near(run.config.number(key)))


def _check_fix(here: Talk, place: str, found: Diagnosis) -> None:
    if not found.run.series and not any(item.changes for item in found.prescriptions):
        assert "no metric could be read" in here.error("propose_fix", run_id=place, unsafe=True)
        return
    fixed = here.data("propose_fix", run_id=place, unsafe=True)
    first = next((item for item in found.prescriptions if item.changes), None)
    assert not fixed["written"]
    assert (fixed["prescription"] or {}).get("instruction") == (first.instruction if first else None)
    if first is not None and fixed["native"] is not None:
        assert first.native is not None
        assert fixed["native"]["text"] == first.native.text


def _check_logs(here: Talk, place: str, found: Diagnosis) -> None:
    logs, streamed = here.data("get_run_logs", run_id=place), here.data("stream_training_logs", run_id=place)
    assert logs["total_lines"] == streamed["total_lines"]
    assert logs["file"] or not logs["total_lines"]
    assert logs["log"].rpartition("\n")[2] == streamed["log"].rpartition("\n")[2]
    raised = [item.text.rstrip().rpartition("\n")[2] for item in found.run.logs if item.kind == "traceback"]
    for excerpts in (logs["excerpts"], here.data("show_run", run_id=place)["logs"]):
        assert not raised or raised[-1][:120] in excerpts[0]
    assert here.data("get_logged_responses", run_id=place)["responses"] == _responses(RUNS / place)


def _responses(place: Path) -> int:
    try:
        return review_samples(*read_samples(place)).count
    except NothingReadable:
        return 0


def _check_watching(here: Talk, place: str, found: Diagnosis) -> None:
    watched, alerts = here.data("watch_run", run_id=place), here.data("get_metric_alerts", run_id=place)
    assert (watched["verdict"], watched["state"]) == (found.verdict.value, found.run.status.state.value)
    assert (watched["step"], watched["budget"]) == (near(found.run.steps), near(found.run.budget))
    assert watched["advice"] == (found.outlook.advice.value if found.outlook else "")
    assert watched["alerts"] == alerts["holding"]
    assert {item["code"] for item in watched["alerts"]} <= {"", *(item.code for item in found.findings)}


def _check_curves(here: Talk, place: str, returns: Series) -> None:
    name = returns.logged_as
    whole = here.data("get_metrics_range", run_id=place, start_epoch=-1e15, end_epoch=1e15, metric_names=[name])
    rows = here.data("get_run_metrics", run_id=place, metric_names=[name])
    assert (whole["total_rows"], whole["metrics"]) == (rows["total_rows"], rows["metrics"])
    summary = here.data("get_metrics_summary", run_id=place, metric_name=name)
    trend = here.data("get_metric_trend", run_id=place, metric=name)
    assert (trend["direction"], trend["change"]) == (summary["trend"], near(summary["trend_delta"]))
    assert trend["n_samples"] == summary["count"] == int(np.isfinite(returns.values).sum())
    pair = here.data("correlate_metrics", run_id=place, metric_pairs=[[name, name], [name, "no such metric"]])
    assert pair["correlations"][0]["correlation"] in (None, near(1.0))
    assert "no such metric" in pair["correlations"][1]["error"]
    drawn = here.data("plot_run_metric", run_id=place, metric_names=[name, "no such metric"])
    beside = here.data("plot_compare_runs", run_ids=[place], metric=name)
    assert drawn["unknown_metrics"] == ["no such metric"]
    for curve in (drawn["curves"][0], beside["curves"][0]):
        assert (curve["points"], curve["max"]) == (len(returns), near(returns.highest))
        assert (curve["first"], curve["last"]) == (summary["first"], summary["last"])


def _check_baseline(here: Talk, place: str, returns: Series) -> None:
    itself = here.data("compare_to_baseline", run_id=place, baseline=place, metric=returns.logged_as)
    assert itself["target"] == itself["baseline"]
    assert itself["status"] in ("equal", "unknown")
    if itself["target"]["value"] is not None:
        assert itself["target"]["last"] == near(returns.last)


def test_no_tool_that_answers_about_a_run_is_left_out(here: Talk) -> None:
    asked: set[str] = set()

    class Listening:
        def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
            asked.add(tool)
            return here.data(tool, **arguments)

    check(Listening(), "sb3/ppo_cartpole")  # type: ignore[arg-type]
    about = {
        tool.name for tool in TOOLS
        if tool.effect == "reads" and {"run_id", "run_ids"} & set(signature(tool.function).parameters)
    }  # fmt: skip
    assert about - asked == ABOUT_NO_RUN


@pytest.mark.slow
@pytest.mark.parametrize("place", EVERY)
def test_every_recorded_run_gets_the_same_answers_from_all_tools(here: Talk, place: str) -> None:
    check(here, place)


@pytest.mark.parametrize("place", SOME)
def test_all_tools_agree_with_the_diagnosis_and_with_the_files(here: Talk, place: str) -> None:
    check(here, place)


def test_the_listing_says_what_the_runs_say(here: Talk) -> None:
    offset: int | None = 0
    while offset is not None:
        page = here.data("list_runs", limit=50, offset=offset)
        offset = page["next_offset"]
        for row in page["runs"]:
            if row["path"] in SOME:
                returns = read(RUNS / row["path"]).returns
                assert row["best_return"] == near(returns.highest if returns else None)
                assert row["last_return"] == near(returns.last if returns else None)


def test_the_best_run_is_told_with_a_value_that_was_logged(here: Talk) -> None:
    best = here.data("get_best_run", env_id="CartPole-v1")
    info = here.data("get_metrics_summary", run_id=best["best_run"]["path"], metric_name=best["metric"])
    assert best["best_value"] == info["last"]


def test_a_history_names_only_settings_that_surely_separate(here: Talk) -> None:
    found = here.data("get_history", env_id="CartPole-v1")
    assert all(item["p_value"] < 0.05 for item in found["separations"])


@pytest.mark.parametrize("name", ["mmrkhs", "MM-RKHS", "mm-rkhs"])
def test_an_algorithm_is_found_however_it_is_spelt(here: Talk, name: str) -> None:
    assert here.data("get_config", env_id="CartPole-v1", variant=name)["config"]["algorithm"] == "MM-RKHS"
    listed = here.data("list_runs", algo_filter=name)
    assert {row["algo"] for row in listed["runs"]} <= {"mm-rkhs"}


def test_runs_of_different_length_are_compared_at_equal_steps_and_budgets_come_first(here: Talk) -> None:
    names = ["sb3/ppo_cartpole", "sb3/ppo_cartpole_high_lr"]
    found = here.data("compare_runs", run_ids=names)
    runs = [read(RUNS / name) for name in names]
    step = min(run.returns.last_step for run in runs if run.returns and run.returns.last_step)
    assert {row["step"] for row in found["at_equal_steps"].values()} == {step}
    keys = [item["key"] for item in found["setting_differences"]]
    assert "total_steps" not in keys or keys[0] == "total_steps"
