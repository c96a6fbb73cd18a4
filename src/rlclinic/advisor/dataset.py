"""What a data set tells about a problem: how good its behaviour is, what it covers, what is wrong with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rlclinic.advisor.measurements.dataset import (
    end_measurement,
    finite_rows,
    mean_interval,
    return_measurement,
    returns_of,
    row_measurements,
    spans,
    two_groups,
)
from rlclinic.advisor.measurements.neighbours import Neighbours
from rlclinic.advisor.measurements.stitching import stitching_gain
from rlclinic.advisor.problem import Problem
from rlclinic.environment.child import in_child
from rlclinic.environment.isolate import policy_named
from rlclinic.model.advice import FactOrigin, Measurement, ProblemFact
from rlclinic.model.series import FloatArray
from rlclinic.model.transitions import Transitions
from rlclinic.readers.redaction.redact import redact
from rlclinic.reference.tasks import task_of

RANDOM, NARROW = 0.85, 0.35
"""Randomness of actions from which nobody chose them, and up to which one policy did."""
EXPERT, POOR = 0.9, 0.2
"""Quality from which the behaviour is an expert's, and below which it may be anybody's; ours."""
UNLIKE = 0.35
"""Difference in randomness between the worst and the best third from which they are not one policy; ours."""
FEW_GOOD = 0.1
"""Share of episodes in the upper half of the range below which good ones are few."""
NEAR_CERTAIN = 0.1
"""Share of chance up to which dynamics count as certain; above it states that only look alike may be the reason."""
PATIENCE = 120.0
"""Seconds that a policy may take for all its actions."""
KINDS = {"random": "random", "expert": "expert", "mixed": "mixed"}
"""What the behaviour looks like -> where such data come from, as rules have it. A middling policy may be anyone's."""


def with_dataset(problem: Problem, steps: Transitions, path: str = "") -> Problem:
    """The problem with what was measured on its data."""
    returns = returns_of(steps)
    steps, odd = finite_rows(steps)
    starts, ends = spans(steps)
    near = Neighbours(steps)
    ended, told = end_measurement(steps)
    found = [*_behaviour(near), ended, *row_measurements(steps), *odd]
    told |= {
        "data.n_transitions": float(len(steps)),
        "data.has_rewards": bool(steps.rewards.any()),
        "task.horizon": float(np.median(ends - starts)),
        "task.action": {"discrete": "discrete", "multi": "multidiscrete"}.get(steps.action_space.kind, "box"),
        "data.coverage": near.coverage,
        "expert.disagreement": near.disagreement,
        "task.stochastic": near.chance if near.chance is not None and near.chance <= NEAR_CERTAIN else None,
    }
    if steps.rewards.any():
        rewarded, of_rewards = _rewarded(problem, steps, returns)
        found, told = [return_measurement(returns, ends - starts), *found, *rewarded], told | of_rewards
    else:
        told_none = f"{len(returns):,} episodes; none has a reward, so only imitation can learn from them"
        found.insert(0, Measurement("returns", "Returns", None, told_none))
    quality = next((item.value for item in found if item.id == "quality"), None)
    kind, reading = behaviour_of(near, returns, quality)
    found.insert(0, Measurement("behaviour", "Whose behaviour", None, f"{kind}: {reading}"))
    told["data.source"] = KINDS.get(kind)
    if not problem.environment:
        told["env.available"] = False
    facts = (_fact(key, value) for key, value in told.items() if value is not None)
    return replace(problem.with_facts(*facts).with_measurements(*found), dataset=redact(path))


def _rewarded(problem: Problem, steps: Transitions, returns: FloatArray) -> tuple[list[Measurement], dict[str, object]]:
    """What only rewards tell: quality, few good episodes, stitching."""
    found: list[Measurement] = []
    told: dict[str, object] = {
        "reward.dense_fraction": float((steps.rewards != 0).mean()),
        "reward.step_size": float(np.abs(steps.rewards).max()),
    }
    worst, best = _references(problem, returns)
    if best is not None and best > worst:
        quality, low, high = ((value - worst) / (best - worst) for value in (returns.mean(), *mean_interval(returns)))
        reading = (
            f"{quality:.2f} of the way from {worst:.4g} (random) to {best:.4g} (best known), {low:.2f} to {high:.2f}"
        )
        found.append(Measurement("quality", "Quality", float(quality), reading, float(low), float(high)))
        told["data.quality"] = float(np.clip(quality, 0.0, 1.0))
    else:
        needs = "not known: it needs data.random_return and data.best_return, or a well-known --env"
        found.append(Measurement("quality", "Quality", None, needs))
    if len(returns) >= 10:
        top, middle = np.sort(returns)[-max(1, len(returns) // 10) :].mean() - worst, returns.mean() - worst
        told["data.top_to_mean"] = float(top / middle) if middle > 1e-9 * abs(top) and top > 0 else None
        told["data.skewed"] = bool(
            np.ptp(returns) > 0 and (returns > (returns.min() + returns.max()) / 2.0).mean() < FEW_GOOD
        )
    gain = stitching_gain(steps)
    if gain is not None:
        told["data.stitching"] = gain
        words = "joined pieces would earn more than whole episodes" if gain > 0.05 else "no gain to speak of"
        found.append(Measurement("stitching", "Stitching", gain, f"{gain:.2f} of the range of returns: {words}"))
    return found, told


def behaviour_of(near: Neighbours, returns: FloatArray, quality: float | None) -> tuple[str, str]:
    """random, expert, medium or mixed, and why; unknown where there is too little."""
    random = near.randomness
    if random is None:
        return "unknown", "too few steps of different episodes are near each other"
    best, worst = _randomness_of_thirds(near, returns)
    if best is not None and worst is not None and worst - best >= UNLIKE:
        return "mixed", f"the worst third of the episodes is {worst:.2f} random, the best third {best:.2f}"
    if random >= RANDOM and (quality is None or quality < POOR):
        return "random", f"actions in nearly the same state differ as much as random ones ({random:.2f})"
    if two_groups(returns):
        return "mixed", "returns fall into two groups"
    if quality is None:
        kind = "consistent" if random <= NARROW else "medium"
        return kind, f"one policy, {random:.2f} random; how good it is cannot be told without returns to compare with"
    return ("expert" if quality >= EXPERT else "medium"), f"one policy of quality {quality:.2f}, {random:.2f} random"


def _randomness_of_thirds(near: Neighbours, returns: FloatArray) -> tuple[float | None, float | None]:
    """How random the best and the worst third of the episodes are; one policy is about as random in both."""
    if len(returns) < 6 or np.ptp(returns) <= 1e-9 * np.abs(returns).max():
        return None, None
    place = np.argsort(np.argsort(returns))[np.unique(near.steps.episodes, return_inverse=True)[1]] / (len(returns) - 1)
    return near.randomness_among(place >= 2 / 3), near.randomness_among(place <= 1 / 3)


def support(steps: Transitions, policy: str) -> Measurement:
    """How often a policy, a function or a run, would do what the data do not show; it acts in a child process."""
    near = Neighbours(steps)
    seen, whole = steps.observations[near.queries], steps.action_space.whole
    done = in_child(_actions_of, policy, seen, doing="asking the policy", path=policy, patience=PATIENCE)
    outside = near.outside(np.asarray(done, dtype=np.float64).reshape(len(seen), steps.actions.shape[1]))
    told = f"{outside:.0%} of its actions are further from the data than 95% of the data are from each other"
    told += ": values there are guesses" if outside > 0.2 and not whole else ""
    return Measurement("support", "Distance to the policy", outside, told)


def _actions_of(policy: str, observations: FloatArray) -> list[list[float]]:
    act = policy_named(policy)
    return [np.ravel(act(row.astype(np.float32))).astype(float).tolist() for row in observations]


def _behaviour(near: Neighbours) -> list[Measurement]:
    random, coverage, chance = near.randomness, near.coverage, near.chance
    return [
        Measurement(
            "entropy", "Randomness of behaviour", random,
            "not measured: no states of different episodes are near each other" if random is None
            else f"{random:.2f} from 0 (one action for each state) to 1 (any action)",
        ),
        Measurement(
            "coverage", "Coverage", coverage,
            "not measured: too few steps" if coverage is None
            else f"{coverage:.2f} of the pairs of state and action that random actions in the same states would show",
        ),
        Measurement(
            "chance", "Chance in the dynamics", chance,
            "not measured: no steps are near each other" if chance is None
            else f"at most {chance:.2f} of what follows a step is chance",
        ),
    ]  # fmt: skip


def _references(problem: Problem, returns: FloatArray) -> tuple[float, float | None]:
    """What random and the best known policies earn: as told, of a well-known task, else the worst episode."""
    task = task_of(problem.environment) if problem.environment else None
    worst, best = problem.number("data.random_return"), problem.number("data.best_return")
    if worst is None:
        worst = task.random_mean if task is not None else None
    if best is None and task is not None:
        best = next((level for level in (task.best_return, task.target, task.threshold) if level is not None), None)
    return (float(returns.min()), None) if worst is None else (worst, best)


def _fact(key: str, value: object) -> ProblemFact:
    if key == "env.available":
        return ProblemFact(key, value, FactOrigin.DERIVED, "none was named beside the data")
    return ProblemFact(key, value, FactOrigin.MEASURED, "in the data")
