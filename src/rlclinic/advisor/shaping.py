"""A potential from the user's progress variable: proved to be one, and how other forms of it would be gamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rlclinic.advisor.problem import Problem
from rlclinic.environment.child import in_child
from rlclinic.environment.make import maker_of
from rlclinic.environment.panel import LONGEST, MakeAct, policies_of, random_policy
from rlclinic.environment.play import Act, now, reset, step
from rlclinic.environment.shaping import SHAPING, PotentialShaping
from rlclinic.model.advice import FactOrigin, Measurement, ProblemFact
from rlclinic.model.errors import UsageError
from rlclinic.model.series import FloatArray

EPISODES = 4
PATIENCE = 60.0
SEED = 7
EXACT = 1e-6
"""Relative error up to which an identity of floats holds."""
Pay = Callable[[FloatArray, FloatArray], FloatArray]
FORMS: dict[str, Pay] = {
    "a difference without the discount": lambda before, after: after - before,
    "progress only, regress for free": lambda before, after: np.maximum(after - before, 0.0),
    "a bonus for being far": lambda before, after: after,
}
"""Other ways to pay for progress, from the potentials before and after each step."""


@dataclass(frozen=True, slots=True)
class Course:
    """One episode of a simple policy in the shaped environment."""

    policy: str
    rewards: tuple[float, ...]
    """Of the task alone."""
    shaping: tuple[float, ...]
    potentials: tuple[float, ...]
    """One more than steps; 0 after a real end."""


def shape_reward(problem: Problem, progress: str, gamma: float, seconds: float) -> Problem:
    """The problem with a potential from its progress variable, tried by the panel in a process of its own."""
    name, patience = problem.environment, PATIENCE + 4 * seconds
    arguments = (name, progress, gamma, seconds)
    courses = in_child(play_panel, *arguments, doing="playing the panel", path=name, patience=patience)
    return with_courses(problem, courses, progress, gamma)


def play_panel(name: str, progress: str, gamma: float, seconds: float) -> list[Course]:
    """Episodes of random and simple policies. For a child process: the environment is the user's."""
    environment, end = PotentialShaping(maker_of(name)(), progress, gamma), now() + seconds
    space, found = environment.action_space, list[Course]()
    environment.reset(seed=SEED)
    panel: list[tuple[str, MakeAct]] = [("random", lambda _: random_policy(space)), *policies_of(space)]
    for policy, make in panel:
        for at in range(EPISODES):
            if now() > end and found:
                break
            found.append(_episode(environment, policy, make(SEED + at), SEED + at, end))
    return found


def _episode(environment: PotentialShaping, policy: str, act: Act, seed: int, end: float) -> Course:
    seen: Any = reset(environment, seed)
    rows, potentials = [], [environment.potential]
    for _ in range(LONGEST):
        seen, reward, terminated, truncated, info = step(environment, act(seen))
        added = info["reward_components"][SHAPING]
        rows.append((reward - added, added))
        potentials.append(environment.potential)
        if terminated or truncated or now() > end:
            break
    rewards, shaping = zip(*rows, strict=True)
    return Course(policy, tuple(rewards), tuple(shaping), tuple(potentials))


def with_courses(problem: Problem, courses: list[Course], progress: str, gamma: float) -> Problem:
    """The proof, a scale, and for each other form the simple policy that would game it most."""
    reached = np.concatenate([one.potentials for one in courses])
    width = float(np.ptp(reached))
    what = f"number {progress} of the observation" if progress.isdigit() else progress
    if width <= 0:
        raise UsageError(f"{what} never changes", hint="name a number that grows towards the goal")
    returns = {one.policy: 0.0 for one in courses}
    for name in returns:
        returns[name] = float(np.mean([sum(one.rewards) for one in courses if one.policy == name]))
    spread = max(returns.values()) - min(returns.values()) or max(map(abs, returns.values())) or 1.0
    scale = float(f"{spread / width:.1g}")
    error = max(_error(one, gamma) for one in courses) / width
    proof = (
        f"over {len(courses)} episodes of {len(returns)} policies the discounted sum of the term is what its ends say,"
    )
    proof += f" up to {error:.1g} of its range: it is a difference of a potential and changes no optimal policy"
    if error > EXACT:
        proof = f"the term is no difference of a potential: its sum is off by {error:.2g} of its range"
    found = [
        Measurement("potential", "Potential-based", error, proof),
        Measurement(
            "scale", "Scale of the potential", scale,
            f"{what} ranges over {width:.4g}, returns of the panel over {spread:.4g}: begin with {scale:g}, then try a "
            "third and three times of it",
        ),
        *(_gamed(form, pay, courses, returns, gamma) for form, pay in FORMS.items()),
    ]  # fmt: skip
    step_line = (
        f'rlclinic.environment.shaping.PotentialShaping(env, progress="{progress}", gamma={gamma:g}, scale={scale:g})'
    )
    facts = [
        ProblemFact("reward.heuristic_value", value=True, origin=FactOrigin.DERIVED, note=f"from {what}"),
        ProblemFact("reward.shaped", value=True, origin=FactOrigin.DERIVED, note="by the wrapper"),
        ProblemFact("reward.shaping", "potential", FactOrigin.MEASURED, "by its sums over episodes"),
    ]
    shaped = problem.with_facts(*(facts if error <= EXACT else [])).with_measurements(*found)
    return replace(
        shaped, steps=(*shaped.steps, f"env = {step_line}", f"Train with gamma {gamma:g}: the term is made for it.")
    )


def _error(one: Course, gamma: float) -> float:
    """How far the discounted sum of the term is from what the potentials at its ends say."""
    count = len(one.shaping)
    said = gamma**count * one.potentials[-1] - one.potentials[0]
    return abs(float(np.dot(one.shaping, gamma ** np.arange(count))) - said)


def _gamed(form: str, pay: Pay, courses: list[Course], returns: dict[str, float], gamma: float) -> Measurement:
    """Who of the panel would be paid most beyond what its progress is worth, and what the task pays it."""
    lowest, excess = min(min(one.potentials) for one in courses), dict.fromkeys(returns, 0.0)
    for one in courses:
        # What a real end takes away is no part of the form, and nobody pays a negative bonus.
        reached = np.array(one.potentials[:-1]) - lowest
        before, after = reached[:-1], reached[1:]
        paid = pay(before, after) - (gamma * after - before)
        excess[one.policy] += float(paid @ gamma ** np.arange(len(paid))) / sum(one.policy == o.policy for o in courses)
    worst = max(excess, key=lambda name: excess[name])
    reading = f"pays the policy {worst!r} {excess[worst]:.3g} beyond what its progress is worth; the task pays it"
    reading += f" {returns[worst]:.4g}"
    return Measurement(form, f"Gamed: {form}", excess[worst], reading, bars=tuple(excess.items()))
