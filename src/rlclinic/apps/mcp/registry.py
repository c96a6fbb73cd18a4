"""The tools by name: where each is written, what it does to the world, and what it is called for people."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

from rlclinic.model.lazy_dataclass import dataclass

Effect = Literal["reads", "starts", "stops"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool."""

    name: str
    module: str
    """File of `tools`."""
    title: str
    question: str
    """The question that it answers, for the skill."""
    effect: Effect = "reads"

    @property
    def function(self) -> Callable[..., Any]:
        """The tool itself."""
        found: Callable[..., Any] = getattr(import_module(f"rlclinic.apps.mcp.tools.{self.module}"), self.name)
        return found


TOOLS: tuple[ToolSpec, ...] = (
    ToolSpec("diagnose", "diagnosing", "Diagnose a run", "What is wrong with a run, why, and what should be changed?"),
    ToolSpec("explain", "diagnosing", "Explain a finding or cause",
             "What does a rule or cause mean, what looks alike?"),
    ToolSpec("show_run", "diagnosing", "Show what was read", "What was read of a run, and what is missing?"),
    ToolSpec("propose_fix", "fixing", "Propose a fix", "How does the change look in the user's own config file?"),
    ToolSpec("start_trial", "trials", "Start a trial", "Does the change really help?", "starts"),
    ToolSpec("trial_status", "trials", "Look at a trial", "What does the trial prove so far?"),
    ToolSpec("probe_trainer", "probing", "Probe a trainer", "Is the trainer's code broken, and where?", "starts"),
    ToolSpec("examine_environment", "examining", "Examine an environment",
             "Is it the reward, the environment or the task?", "starts"),
    ToolSpec("advise", "advising", "Advise on a problem",
             "Does RL fit this problem, which approach, which batch size, rate or discount, and who says so?"),
    ToolSpec("inspect_dataset", "advising", "Judge a data set",
             "What are recorded transitions worth, and which offline algorithm fits them?"),
    ToolSpec("get_history", "history", "Learn from past runs",
             "What separates good from bad runs, what was tried already?"),
    ToolSpec("get_best_run", "history", "Find the best run", "Which run of an environment was best?"),
    ToolSpec("list_runs", "runs", "List runs", "Which runs are there?"),
    ToolSpec("get_run_info", "runs", "Look at a run", "What is this run, with which config, and how did it end?"),
    ToolSpec("list_checkpoints", "runs", "List checkpoints", "Which checkpoints were saved?"),
    ToolSpec("comprehensive_diagnostic", "diagnostic", "Everything in one call",
             "How does this run stand, in one call?"),
    ToolSpec("health_check", "health", "Check a run's health", "Is anything wrong at all?"),
    ToolSpec("get_run_metrics", "metrics", "Read metrics", "Which values did these metrics take over the run?"),
    ToolSpec("get_metrics_range", "metrics", "Read metrics of a stretch",
             "Which values did they take between two epochs?"),
    ToolSpec("list_available_metrics", "metrics", "List metrics", "What did the run log, and what is missing?"),
    ToolSpec("get_metrics_summary", "summaries", "Sum up a metric", "What is the range, mean and end of one metric?"),
    ToolSpec("get_metric_trend", "summaries", "Measure a trend", "Does a metric rise or fall, and how surely?"),
    ToolSpec("correlate_metrics", "summaries", "Correlate metrics", "Which metrics move together?"),
    ToolSpec("get_hyperparam_history", "summaries", "Follow hyperparameters",
             "Which hyperparameters changed on the way?"),
    ToolSpec("plot_run_metric", "plots", "Plot metrics", "What does the course of a metric look like?"),
    ToolSpec("plot_compare_runs", "plots", "Plot runs together", "How do several runs compare in one picture?"),
    ToolSpec("compare_runs", "comparing", "Compare runs",
             "Which run is better, what differs, where do the curves part?"),
    ToolSpec("compare_to_baseline", "comparing", "Compare to a baseline",
             "Is this run better than the best one so far?"),
    ToolSpec("get_run_logs", "logs", "Read the log", "What did the run print, which errors and warnings?"),
    ToolSpec("stream_training_logs", "logs", "Follow the log", "What has a running run printed since I last looked?"),
    ToolSpec("get_logged_responses", "logs", "Read logged responses",
             "What did a language model write, and what was paid for it?"),
    ToolSpec("get_metric_alerts", "logs", "Read alerts",
             "What of a run is worth an alert, what did its trainer alert to?"),
    ToolSpec("watch_run", "watching", "Watch a run", "Should a running run go on, what has changed since I looked?"),
    ToolSpec("list_environments", "configs", "List environments", "Which environments can be trained here?"),
    ToolSpec("list_variants", "configs", "List variants", "Which variants of an environment are there?"),
    ToolSpec("get_config", "configs", "Read a configuration", "What does a variant train with?"),
    ToolSpec("start_training", "training", "Start training", "Train a known configuration.", "starts"),
    ToolSpec("stop_training", "training", "Stop training", "End a run that does not improve; it can resume.", "stops"),
    ToolSpec("get_training_status", "progress", "Look at a training", "Does a run still go on, and how far is it?"),
    ToolSpec("wait_for_training_completion", "progress", "Wait for a training", "Has the run ended yet?"),
    ToolSpec("get_training_progress", "progress", "Measure progress",
             "How much of the budget is used, with what return?"),
    ToolSpec("run_play", "playing", "Play the policy", "What does the policy do at its best and worst?", "starts"),
    ToolSpec("run_inspect", "playing", "Inspect episodes", "What does the policy see and do, step by step?", "starts"),
    ToolSpec("run_publish", "elsewhere", "Not here: publish", "Not offered; says what to call instead."),
)  # fmt: skip
# Tools whose answer follows from the files of one run and the arguments alone: asked again it is given again, until a
# file changes.
STEADY = frozenset(
    {
        "diagnose", "show_run", "get_run_info", "comprehensive_diagnostic", "health_check", "get_run_metrics",
        "get_metrics_range", "list_available_metrics", "get_metrics_summary", "get_metric_trend", "correlate_metrics",
        "get_hyperparam_history", "get_training_progress", "get_run_logs", "get_metric_alerts",
    }
)  # fmt: skip
