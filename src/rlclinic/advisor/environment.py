"""Facts about a problem that making its environment tells, without taking a step."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from rlclinic.advisor.problem import Problem
from rlclinic.model.advice import FactOrigin, ProblemFact
from rlclinic.model.errors import UsageError
from rlclinic.reference.tasks import task_of

# A flat observation space is an image from this many dimensions on.
IMAGE_DIMENSIONS = 3
SAME_NAME = ("Discrete", "Box", "MultiDiscrete", "MultiBinary", "Text")
GOAL_KEYS = frozenset({"desired_goal", "achieved_goal"})


def with_environment(problem: Problem, *, trusted: bool) -> Problem:
    """The problem with what its environment tells; a caveat where a package is missing that would make it.

    `trusted` says that the user named it himself: only then code of his own is imported.
    """
    from gymnasium.error import DependencyNotInstalled

    try:
        return problem.with_facts(*facts_of_environment(problem.environment, trusted=trusted))
    except UsageError as error:
        if task_of(problem.environment) is None and not isinstance(error.__cause__, DependencyNotInstalled):
            raise
        return replace(
            problem, caveats=(*problem.caveats, f"{error}. It was not looked at; the tables are all that speaks.")
        )


def facts_of_environment(name: str, *, trusted: bool = False) -> tuple[ProblemFact, ...]:
    """What the spaces of an environment and its registration say; UsageError where it cannot be made."""
    from rlclinic.lab.environments import make_environment
    from rlclinic.lab.recipe import Recipe

    trust = frozenset({name}) if trusted else frozenset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of outdated versions: of no use to an answer.
        environment = make_environment(Recipe("sb3", "PPO", name, total_steps=1, trust=trust))
    try:
        observed, acted, spec = environment.observation_space, environment.action_space, environment.spec
    except AttributeError as error:
        raise UsageError(f"{name}: {error}", hint="an environment sets its spaces when it is made") from error
    finally:
        environment.close()
    limit = getattr(spec, "max_episode_steps", None)
    told: dict[str, object] = {
        "env.available": True,
        "reward.known": True,
        "task.obs": _observed(observed),
        "task.action": _acted(acted),
    }
    told["task.horizon"] = float(limit) if limit else None
    told["task.goal_conditioned"] = _keys(observed) >= GOAL_KEYS or None
    pairs = _pairs(observed, acted)
    told["task.state_action_pairs"] = float(pairs) if pairs else None
    note = f"spaces of {name}"
    return tuple(ProblemFact(key, value, FactOrigin.READ, note) for key, value in told.items() if value is not None)


def _observed(space: Any) -> str:
    if _keys(space):
        return "dict"
    shape = getattr(space, "shape", None) or ()
    return "image" if len(shape) >= IMAGE_DIMENSIONS else "text" if type(space).__name__ == "Text" else "vector"


def _acted(space: Any) -> str:
    name = type(space).__name__
    return name.lower() if name in SAME_NAME else "dict"


def _keys(space: Any) -> frozenset[str]:
    return frozenset(getattr(space, "spaces", {})) if type(space).__name__ == "Dict" else frozenset()


def _pairs(observed: Any, acted: Any) -> int | None:
    if type(observed).__name__ == type(acted).__name__ == "Discrete":
        return int(observed.n) * int(acted.n)
    return None
