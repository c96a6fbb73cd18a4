"""The value of a setting: of the task's own entry first, then of the rule that rests on the most facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from rlclinic.advisor.problem import Problem
from rlclinic.advisor.rules import rules
from rlclinic.model.advice import FiredRule, Value
from rlclinic.reference.algorithms import algorithm_name
from rlclinic.reference.reference_configs import NEAR_ONE, has_reference_config, reference_config

# The settings that answer a question, the main one first.
ANSWERED_BY = {
    "batch-size": ("batch_size", "n_steps", "n_envs"),
    "learning-rate": ("learning_rate",),
    "discount": ("gamma",),
    "gae": ("gae_lambda",),
    "exploration": ("ent_coef", "exploration_fraction", "exploration_final"),
}
# Factor around a known-good value within which tuned configurations of one task differ little.
NEAR = 2.0


def advised_values(problem: Problem, question: str, fired: Sequence[FiredRule]) -> tuple[Value, ...]:
    """What is advised for the settings that a question is about; empty where none can be given."""
    found = (_advised(problem, key, fired) for key in ANSWERED_BY.get(question, ()))
    return tuple(value for value in found if value is not None)


def _advised(problem: Problem, key: str, fired: Sequence[FiredRule]) -> Value | None:
    algorithm = problem["run.algo"]
    name = algorithm_name(algorithm) if isinstance(algorithm, str) else ""
    default = _number(reference_config("", name), key) if name else None
    if name and problem.environment and has_reference_config(problem.environment, name):
        known = _number(reference_config(problem.environment, name), key)
        if known is not None:
            low, high = (known / NEAR, known * NEAR) if key not in NEAR_ONE else _around(known)
            if isinstance(reference_config(problem.environment, name)[key], int):
                low = float(math.ceil(low))
            steps = _number(reference_config(problem.environment, name), "total_steps")
            within = f" in {steps:,.0f} env steps" if steps else ""
            basis = f"known to work for {name} on {problem.environment}{within}"
            return Value(key, known, low, high, basis, default)
    for rule in sorted(fired, key=lambda rule: -len(rule.because)):
        given = rules()[rule.id].gives
        if given is not None and given.key == key:
            start, low, high = COMPUTED[given.by](problem) if given.by else (given.start, given.low, given.high)
            return Value(key, start, low, high, f"rule {rule.id}", default)
    return Value(key, default, default, default, f"the default of {name}", default) if default is not None else None


def _around(value: float) -> tuple[float, float]:
    """The same factor for a value near 1, on its distance from 1."""
    return 1.0 - min(NEAR * (1.0 - value), 1.0), 1.0 - (1.0 - value) / NEAR


def _by_delay(problem: Problem) -> tuple[float, float, float]:
    delay = max(problem.number("task.reward_delay") or 1.0, 2.0)
    return 1.0 - 1.0 / (2.0 * delay), 1.0 - 1.0 / delay, 1.0 - 1.0 / (3.0 * delay)


def _by_noise(problem: Problem) -> tuple[float, float, float]:
    scale = max(problem.number("measured.noise_steps") or 1.0, 1.0)
    return 2.0 ** round(math.log2(scale)), scale / 2.0, scale * 2.0


def _number(config: Mapping[str, object], key: str) -> float | None:
    value = config.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


COMPUTED: Mapping[str, Callable[[Problem], tuple[float, float, float]]] = {"delay": _by_delay, "noise": _by_noise}
