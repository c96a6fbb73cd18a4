"""What to do after the advice: exact commands, and the experiment that would show whether the advice is right."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rlclinic.advisor.problem import Problem
from rlclinic.advisor.rules import approaches
from rlclinic.model.advice import Option, Value
from rlclinic.reference.algorithms import algorithm_name

ALGORITHMS = frozenset({"ppo", "dqn", "sac"})
# What `rlclinic train` and `rlclinic offline` train.
TRAINED = frozenset({"PPO", "A2C", "DQN", "SAC", "TD3", "TRPO", "QRDQN", "TQC", "REINFORCE", "MM-RKHS"})
OFFLINE = frozenset({"td3-bc", "iql", "cql", "decision-transformer"})
# What stands in a command for what was not named.
EXPERT, UNNAMED = "RUN_OR_DEMONSTRATIONS", "ENV"


def next_steps(
    problem: Problem,
    question: str,
    options: Sequence[Option],
    values: Sequence[Value] = (),
    algorithms: Sequence[Option] = (),
) -> tuple[str, ...]:
    """Commands for this problem; words where no command does it."""
    environment, name = shlex.quote(problem.environment or UNNAMED), options[0].id if options else ""
    first = approaches()[name].first if name else ""
    steps = [first] if first else []
    if problem.run:
        steps.append(f"rlclinic diagnose {shlex.quote(problem.run)}")
    elif name in ALGORITHMS:
        others = [option.id for option in options[1:] if option.id in ALGORITHMS]
        budget = problem.number("budget.env_steps")
        steps_told = f" --steps {budget:.0f}" if budget else ""
        measured = [] if problem.measurements else [f"rlclinic advise --env {environment} --measure"]
        steps += [*measured, f"rlclinic train {environment}:{name}{steps_told}", "rlclinic diagnose @last"]
        steps += [f"rlclinic train {environment}:{other}{steps_told}" for other in others]
        steps += [f"rlclinic compare --history runs --env {environment}"] * bool(others)
    elif problem.environment and name in ("behaviour-cloning", "dagger") and not problem.dataset:
        algorithm = "bc" if name == "behaviour-cloning" else name
        steps.append(f"rlclinic imitate {environment} --expert {EXPERT} --algo {algorithm}")
    if question == "reward" and not problem.steps:
        steps.append(f"rlclinic advise reward --env {environment} --progress INDEX_OR_KEY")
    if problem.dataset and problem["data.has_rewards"] is not False:
        steps += _offline(problem, name, algorithms)
    if question == "batch-size" and not problem.run:
        steps.append("rlclinic advise batch-size --run RUN --measure")
    if (question == "offline" or problem["data.source"] not in (None, "none")) and not problem.dataset:
        steps.append("rlclinic advise --dataset PATH")
    return (*steps, *_ablations(problem, environment, values))


def _ablations(problem: Problem, environment: str, values: Sequence[Value]) -> list[str]:
    """The advised value, and paired runs against the library's default or the ends of the range."""
    algorithm = algorithm_name(str(problem["run.algo"] or ""))
    if problem.run:
        return [f"rlclinic trial {shlex.quote(problem.run)} --change {v.key}={v.start:g} --seeds 5" for v in values]
    if not values or algorithm not in TRAINED:
        return []
    settings = " ".join(f"-o {value.key}={value.start:g}" for value in values)
    first = values[0]
    others = (first.default,) if first.default not in (None, first.start) else (first.low, first.high)
    return [
        f"rlclinic train {environment}:{algorithm.lower()} {settings}",
        *(f"rlclinic trial @last --change {first.key}={other:g} --seeds 5" for other in others if other != first.start),
    ]


def _offline(problem: Problem, leading: str, algorithms: Sequence[Option]) -> list[str]:
    """The baseline, what was recommended where it is another, and how they are compared."""
    where = shlex.quote(problem.dataset) + (f" --env {shlex.quote(problem.environment)}" if problem.environment else "")
    first = "bc" if leading == "behaviour-cloning" else "filtered-bc"
    trained = next((option.id for option in algorithms if option.id in OFFLINE), "")
    steps = [f"rlclinic offline {where} --algo {first}"]
    if leading == "offline-rl" and trained:
        steps += [f"rlclinic offline {where} --algo {trained}", "rlclinic offline --rank RUN RUN"]
    return steps
