"""Where the runs of a trial are trained: a pool of local processes, or Ray."""

from rlclinic.trials.runners.choose import RUNNERS, Runner, runner_for

__all__ = ["RUNNERS", "Runner", "runner_for"]
