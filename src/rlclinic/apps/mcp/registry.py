"""The tools by name: where each is written, what it does to the world, and what it is called for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

Effect = Literal["reads", "starts", "stops"]


@dataclass(frozen=True, slots=True)
class Row:
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


ROWS: tuple[Row, ...] = (
    Row("diagnose", "diagnosing", "Diagnose a run", "What is wrong with a run, why, and what should be changed?"),
    Row("explain", "diagnosing", "Explain a finding or cause", "What does a rule or cause mean, what looks alike?"),
    Row("show_run", "diagnosing", "Show what was read", "What was read of a run, and what is missing?"),
    Row("propose_fix", "fixing", "Propose a fix", "How does the change look in the user's own config file?"),
    Row("start_trial", "trials", "Start a trial", "Does the change really help?", "starts"),
    Row("trial_status", "trials", "Look at a trial", "What does the trial prove so far?"),
    Row("probe_trainer", "probing", "Probe a trainer", "Is the trainer's code broken, and where?", "starts"),
    Row("examine_environment", "examining", "Examine an environment", "Is it reward, environment or task?", "starts"),
    Row("get_history", "history", "Learn from past runs", "What separates good from bad runs, what was tried already?"),
    Row("get_best_run", "history", "Find the best run", "Which run of an environment was best?"),
    Row("list_runs", "runs", "List runs", "Which runs are there?"),
    Row("get_run_info", "runs", "Look at a run", "What is this run, with which config, and how did it end?"),
    Row("list_checkpoints", "runs", "List checkpoints", "Which checkpoints were saved?"),
    Row("comprehensive_diagnostic", "diagnostic", "Everything in one call", "How does this run stand, in one call?"),
    Row("health_check", "health", "Check a run's health", "Is anything wrong at all?"),
    Row("get_run_metrics", "metrics", "Read metrics", "Which values did these metrics take over the run?"),
    Row("get_metrics_range", "metrics", "Read metrics of a stretch", "Which values did they take between two epochs?"),
    Row("list_available_metrics", "metrics", "List metrics", "What did the run log, and what is missing?"),
    Row("get_metrics_summary", "summaries", "Sum up a metric", "What is the range, mean and end of one metric?"),
    Row("get_metric_trend", "summaries", "Measure a trend", "Does a metric rise or fall, and how surely?"),
    Row("correlate_metrics", "summaries", "Correlate metrics", "Which metrics move together?"),
    Row("get_hyperparam_history", "summaries", "Follow hyperparameters", "Which hyperparameters changed on the way?"),
    Row("plot_run_metric", "plots", "Plot metrics", "What does the course of a metric look like?"),
    Row("plot_compare_runs", "plots", "Plot runs together", "How do several runs compare in one picture?"),
    Row("compare_runs", "comparing", "Compare runs", "Which run is better, what differs, where do the curves part?"),
    Row("compare_to_baseline", "comparing", "Compare to a baseline", "Is this run better than the best one so far?"),
    Row("get_run_logs", "logs", "Read the log", "What did the run print, which errors and warnings?"),
    Row("stream_training_logs", "logs", "Follow the log", "What has a running run printed since I last looked?"),
    Row("get_metric_alerts", "logs", "Read the trainer's alerts", "Which alerts did gymnasium-solver itself print?"),
    Row("list_environments", "configs", "List environments", "Which environments can be trained here?"),
    Row("list_variants", "configs", "List variants", "Which variants of an environment are there?"),
    Row("get_config", "configs", "Read a configuration", "What does a variant train with?"),
    Row("start_training", "training", "Start training", "Train a known configuration.", "starts"),
    Row("stop_training", "training", "Stop training", "End a run that goes nowhere; it can be resumed.", "stops"),
    Row("get_training_status", "progress", "Look at a training", "Does a run still go on, and how far is it?"),
    Row("wait_for_training_completion", "progress", "Wait for a training", "Has the run ended yet?"),
    Row("get_training_progress", "progress", "Measure progress", "How much of the budget is used, with what return?"),
    Row("run_play", "playing", "Play the policy", "What does the policy do at its best and worst?", "starts"),
    Row("run_inspect", "playing", "Inspect episodes", "What does the policy see and do, step by step?", "starts"),
    Row("run_publish", "elsewhere", "Not here: publish", "Not offered; says what to call instead."),
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
