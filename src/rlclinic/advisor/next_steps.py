"""What to do after the advice: exact commands, and the experiment that would show whether the advice is right."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rlclinic.advisor.problem import Problem
from rlclinic.model.advice import Option

ALGORITHMS = {"ppo": "ppo", "dqn": "dqn", "sac": "sac"}
# What `rlclinic offline` trains.
OFFLINE = frozenset({"td3-bc", "iql", "cql", "decision-transformer"})


def next_steps(
    problem: Problem, question: str, options: Sequence[Option], algorithms: Sequence[Option] = ()
) -> tuple[str, ...]:
    """Commands for this problem; words where no command does it."""
    environment = problem.environment
    leading = options[0].id if options else ""
    steps: list[str] = []
    if environment and leading in ALGORITHMS:
        task = shlex.quote(f"{environment}:{ALGORITHMS[leading]}")
        steps.append(f"rlclinic train {task}")
        steps.append("rlclinic diagnose @last")
        steps += [
            f"rlclinic train {shlex.quote(f'{environment}:{ALGORITHMS[other.id]}')}"
            for other in options[1:]
            if other.id in ALGORITHMS
        ]
    elif leading == "planning":
        steps.append("Write the planner first and keep its return: it is the bar that any learned policy has to pass.")
    elif leading in ("behaviour-cloning", "dagger"):
        steps.append("Hold back a fifth of the episodes, clone the rest, and compare the return with the expert's.")
    elif leading == "offline-rl":
        steps.append("Train filtered cloning beside it: offline RL that does not beat it is not worth its knobs.")
    if problem.dataset:
        steps += _offline(problem, leading, algorithms)
    if environment and question in ("learning-rate", "batch-size", "discount", "gae", "exploration"):
        steps.append("rlclinic trial @last --seeds 5")
    return tuple(steps)


def _offline(problem: Problem, leading: str, algorithms: Sequence[Option]) -> list[str]:
    """The baseline, what was recommended where it is another, and how they are compared."""
    where = shlex.quote(problem.dataset) + (f" --env {shlex.quote(problem.environment)}" if problem.environment else "")
    first = "bc" if leading == "behaviour-cloning" else "filtered-bc"
    trained = next((option.id for option in algorithms if option.id in OFFLINE), "")
    steps = [f"rlclinic offline {where} --algo {first}"]
    if leading == "offline-rl" and trained:
        steps += [f"rlclinic offline {where} --algo {trained}", "rlclinic offline --rank RUN RUN"]
    return steps
