"""The return that is logged is the reward of one step.

What it sees: A training return equal to the mean reward of a step at every point, while episodes last many steps; or,
where that is not logged, equal to the evaluation return divided by the length of its episodes, at least at both ends of
the run: in between a mean over the last episodes lags behind.
Why it hurts: Curves, thresholds, the choice of the best model and every rule that reads the return judge another
number than the one that is meant. It hardly moves where longer episodes are better.
Evidence needed: return/train and reward/step or return/eval with their episode lengths, at least 5 points each.
Looks alike: Episodes of a step or two, where both are the same number. Rewards that are normalised in training.
What to change: Log the sum of the rewards of an episode: read `info["episode"]["r"]` of the environment's monitor
and do not divide it by the length.
References: Gymnasium's RecordEpisodeStatistics; SB3's Monitor: both log sums.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import finite
from rlclinic.model.finding import Severity
from rlclinic.model.series import FloatArray, Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median

RULE = Rule(
    "EVA08",
    needs=("return/train", "reward/step|return/eval", "episode_length|episode_length/eval"),
    step=DecisionStep.ENVIRONMENT,
    means=(Sign.EVALUATION_DIFFERS,),
)


class Limits(RuleLimits):
    fewest_points: int = 5
    long: float = 5.0
    """Steps of an episode from which on a sum is another number than a mean."""
    equal: float = 0.25
    """How far the logged return may lie from the reward of a step, as a share of it."""
    lags: float = 2.0
    """The same as a factor, at the ends alone."""
    apart: float = 0.4
    """Of the return that the length of an episode would give: below it the two are apart."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the training return against the reward of a step."""
    train = facts.series("return/train")
    if train is None or len(train) < limits.fewest_points or facts.is_language_model:
        return None
    at, returns = finite(train)
    for name, steps, per_step, lengths in _rewards(facts):
        seen = np.interp(steps, at, returns)
        if steps.size >= limits.fewest_points and _is_per_step(seen, per_step, lengths, limits):
            told, length = median(seen), median(lengths)
            summary = (
                f"{train.logged_as} is {told:.4g}, about the reward of one step, while episodes last {length:.4g} "
                f"steps: their sums would be about {told * length:.4g}"
            )
            evidence = (facts.evidence(name, median(per_step), told, note="reward of a step"),)
            return RuleResult(Severity.WARNING, 0.9, summary, evidence, float(at[0]))
    return None


def _is_per_step(returns: FloatArray, per_step: FloatArray, lengths: FloatArray, limits: Limits) -> bool:
    """The typical distance from the reward of a step is small; that from a sum over the episode is not."""
    if median(lengths) < limits.long or not np.any(per_step):
        return False
    size = median(np.abs(per_step))
    near = median(np.abs(returns - per_step)) <= limits.equal * size or _agree_at_both_ends(returns, per_step, limits)
    return near and median(np.abs(returns)) < limits.apart * median(np.abs(per_step * lengths))


def _agree_at_both_ends(returns: FloatArray, per_step: FloatArray, limits: Limits) -> bool:
    """Whether first and last points are of one size; in between a mean over the last episodes lags behind."""
    ends = [(returns[at], per_step[at]) for at in (0, -1)]
    return all(one * other > 0.0 and 1.0 / limits.lags < one / other < limits.lags for one, other in ends)


def _rewards(facts: RunFacts) -> Iterator[tuple[str, FloatArray, FloatArray, FloatArray]]:
    """Name, steps, rewards of a step and episode lengths, from training or from evaluation."""
    rewards, lengths = facts.series("reward/step"), facts.series("episode_length")
    if rewards is not None and lengths is not None:
        steps, values = finite(rewards)
        yield rewards.name, steps, values, _at(lengths, steps)
    evaluated = facts.series("return/eval")
    lengths = facts.series("episode_length/eval") or facts.series("episode_length")
    if evaluated is not None and lengths is not None:
        steps, values = finite(evaluated)
        long = _at(lengths, steps)
        yield evaluated.name, steps, values / np.maximum(long, 1.0), long


def _at(series: Series, steps: FloatArray) -> FloatArray:
    at, values = finite(series)
    return np.interp(steps, at, values)
