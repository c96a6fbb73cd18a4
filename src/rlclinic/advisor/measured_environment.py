"""What playing in the user's environment tells: speed, reachable reward, delay, parts of the reward, horizon."""

from __future__ import annotations

import math

import numpy as np

from rlclinic.advisor.measurements.effective_horizon import TRIES, Ahead, look_ahead
from rlclinic.advisor.problem import EASY_BOX, EASY_DISCRETE, EASY_IMAGES, Problem
from rlclinic.environment.child import in_child
from rlclinic.environment.isolate import Request, examine_isolated
from rlclinic.model.advice import FactOrigin, Measurement, ProblemFact
from rlclinic.model.environment_facts import EnvironmentFacts, PolicyReturns
from rlclinic.reference.tasks import task_of

PATIENCE = 60.0
FEWEST_PAIRS = 8
SOLVED = 0.8
"""Share of the way from random to the best that counts as solving."""
LEARNING = {"PPO": 0.5e-3, "A2C": 0.3e-3, "DQN": 2e-3, "SAC": 10e-3, "TD3": 8e-3}
"""Seconds of learning per env step on one core: small networks, one update per step off-policy; rough, ours."""
FEWEST_STEPS = {"PPO": 3.0, "A2C": 5.0, "DQN": 1.5, "SAC": 1.0, "TD3": 1.0}
"""Steps where no published run is known, in those of the easiest tasks of the kind; from zoo curves, rough."""


def measure_environment(problem: Problem, seconds: float) -> Problem:
    """The problem with what was measured in its environment, in processes of their own."""
    name = problem.environment
    facts = examine_isolated(Request(name, seconds=0.6 * seconds))
    found = with_environment(problem, facts)
    doing = "looking ahead"
    ahead = in_child(look_ahead, name, 0.4 * seconds, doing=doing, path=name, patience=PATIENCE + 4 * seconds)
    return _horizon(_delayed(found, ahead), facts, ahead)


def with_environment(problem: Problem, facts: EnvironmentFacts) -> Problem:
    """The problem with what an examination of its environment tells."""
    told: dict[str, object] = {}
    found = [*_gap(facts, told), *_reward(facts, told)]
    if facts.speed is not None:
        told["env.steps_per_s"] = facts.speed.steps_per_second
        found.append(_forecast(problem, facts.speed.steps_per_second))
    if facts.observation is not None and math.isfinite(facts.observation.scale_ratio):
        told["task.obs_scale_ratio"] = facts.observation.scale_ratio
    if facts.episodes is not None and facts.episodes.count:
        told["task.horizon"] = facts.episodes.mean_length
    measured = (ProblemFact(key, value, FactOrigin.MEASURED, f"in {facts.environment}") for key, value in told.items())
    return problem.with_facts(*measured).with_measurements(*found)


def _gap(facts: EnvironmentFacts, told: dict[str, object]) -> list[Measurement]:
    chance, others = facts.policy("random"), [one for one in facts.panel if one.name != "random"]
    if chance is None or not others:
        return []
    best = max(others, key=lambda one: one.mean)
    error = math.hypot(*(one.std / math.sqrt(max(one.episodes, 1)) for one in (chance, best)))
    gap = (best.mean - chance.mean) / error if error > 0 else math.inf * (best.mean - chance.mean or 1.0)
    if gap >= 2 or best.name in ("oracle", "trained"):
        # That simple policies fail says nothing about good ones.
        told["measured.gap_in_errors"] = min(max(gap, -1e6), 1e6)
    told["data.random_return"] = chance.mean
    words = "there is something to learn" if gap >= 2 else "none is clearly better than chance"
    reading = f"random {_level(chance)}; the best simple policy ({best.name}) {_level(best)}: {words}"
    bars = tuple((one.name, one.mean) for one in facts.panel)
    return [Measurement("gap", "Random and simple policies", best.mean - chance.mean, reading, bars=bars)]


def _level(one: PolicyReturns) -> str:
    return f"{one.mean:.4g} ({one.low:.4g} to {one.high:.4g}, {one.episodes} episodes)"


def _reward(facts: EnvironmentFacts, told: dict[str, object]) -> list[Measurement]:
    reward, found = facts.reward, []
    if reward is None:
        return []
    told["reward.dense_fraction"] = reward.nonzero
    told["reward.step_size"] = max(abs(reward.low), abs(reward.high))
    if reward.components:
        shares = tuple((part.name, part.share) for part in reward.components)
        name, most = max(shares, key=lambda pair: pair[1])
        told["reward.largest_share"] = min(max(most, 0.0), 1.0)
        told["reward.components"] = float(len(shares))
        words = ": the others hardly count" if most > 0.8 else ""
        reading = f"{name} has {most:.0%} of the variance of the reward under random actions{words}"
        found.append(Measurement("parts", "Parts of the reward", most, reading, bars=shares))
    return found


def _forecast(problem: Problem, speed: float) -> Measurement:
    """Hours by algorithm: steps that published runs took, or the easiest tasks of the kind, at the measured speed."""
    task = task_of(problem.environment) if problem.environment else None
    known = {name.upper(): steps for name, steps in (task.steps_to_target if task is not None else {}).items()}
    box, image = problem["task.action"] == "box", problem["task.obs"] == "image"
    easy = EASY_IMAGES if image else EASY_BOX if box else EASY_DISCRETE
    names = ("SAC", "TD3", "PPO") if box else ("DQN", "PPO", "A2C")
    at_once, price = problem.number("env.parallel") or 1.0, problem.number("budget.hour_cost")
    hours = {
        name: known.get(name, FEWEST_STEPS[name] * easy) * (1.0 / (speed * at_once) + LEARNING[name]) / 3600.0
        for name in names
    }
    told = ", ".join(
        f"{name} {value:.2g} h" + (f" ({value * price:.3g} in money)" if price is not None else "")
        for name, value in hours.items()
    )
    basis = "published runs" if set(names) <= known.keys() else "the easiest tasks of this kind, so at least"
    reading = f"{speed:,.0f} steps/s in one copy. Until solved, by {basis}: {told}"
    return Measurement("speed", "Speed and forecast", speed, reading, bars=tuple(hours.items()))


def _delayed(problem: Problem, ahead: Ahead | None) -> Problem:
    """How long an action goes on to change the reward, and the discount that reaches so far."""
    if ahead is None or len(ahead.lags) < FEWEST_PAIRS:
        return problem
    low, lag, high = (float(value) for value in np.quantile(ahead.lags, [0.25, 0.5, 0.75]))
    fit = 1.0 - 1.0 / (2.0 * max(lag, 2.0))
    reading = (
        f"half of what an action changes in the reward is paid within {lag:.0f} steps (half of {len(ahead.lags)} pairs:"
    )
    reading += f" {low:.0f} to {high:.0f}) under random play: a discount near {fit:.4g} reaches that far"
    fact = ProblemFact("task.reward_delay", lag, FactOrigin.MEASURED, "pairs that differ in one action")
    return problem.with_facts(fact).with_measurements(
        Measurement("delay", "Delay of the reward", lag, reading, low, high)
    )


def _horizon(problem: Problem, facts: EnvironmentFacts, ahead: Ahead | None) -> Problem:
    title, chance = "Effective horizon", facts.policy("random")
    if ahead is None or chance is None:
        return problem.with_measurements(
            Measurement("horizon", title, None, "not measured: the environment cannot be copied")
        )
    total, length, actions = ahead.total, ahead.length, ahead.actions
    task = task_of(problem.environment)
    best = max((one.mean for one in facts.panel), default=chance.mean)
    best = max(best, task.target) if task is not None and task.target is not None else best
    way = (total - chance.mean) / (best - chance.mean) if best > chance.mean else 0.0
    said = f"greedy on random play ({TRIES} tries of {actions} actions) earned {total:.4g} in one episode of"
    said += f" {length} steps, {way:.0%} of the way from random to {best:.4g}"
    if not ahead.over:
        return problem.with_measurements(
            Measurement("horizon", title, None, f"time ran out: {said} that had not ended")
        )
    solved = way >= SOLVED
    told = [ProblemFact("measured.greedy_over_random_solves", solved, FactOrigin.MEASURED, said)]
    horizon = 1.0 + math.log(TRIES, actions)
    bound, budget = length**2 * actions**horizon, problem.number("budget.env_steps")
    if solved and budget:
        told.append(ProblemFact("measured.bound_over_budget", bound / budget, FactOrigin.MEASURED, "T^2 A^H"))
    words = (
        f"at most {horizon:.2g}, so about {bound:.2g} steps are enough" if solved else "one step ahead is not enough"
    )
    return problem.with_facts(*told).with_measurements(
        Measurement("horizon", title, horizon if solved else None, f"{words}: {said}")
    )
