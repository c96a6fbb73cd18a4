"""Training and evaluation return began together and then diverged.

What it sees: Over the second half of the run the evaluation return is below the training return at nearly every
evaluation, by far more than the noise of both, although both began at the same level.
Why it hurts: The policy that is evaluated, or the world it is evaluated in, is not the one that is trained: a
deterministic policy that never met its own states, normaliser statistics that are not shared, a missing wrapper.
One of the two numbers misleads, and the wrong model may be kept as the best.
Evidence needed: both returns over the same axis, with at least 6 evaluations.
Looks alike: Returns in different units (clipped or per-life rewards of Atari in training, raw scores in
evaluation): these differ from the first point on. A return over the last 100 episodes lags behind a rising
evaluation, and a falling one. A greedy policy that is better than the exploring one is what evaluation is for; that of
a policy that is still about uniform repeats one action.
What to change: Evaluate with the stochastic policy once; share and freeze the observation normaliser between
training and evaluation; give both environments the same wrappers.
References: SB3 issues 1063 and 870 (normaliser statistics, deterministic evaluation); IsaacLab issue 2635.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import uniform
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.window_noise import deviation
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.series import FloatArray, Series
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median

RULE = Rule(
    "EVA01", needs=("return/train", "return/eval"), means=(Sign.EVALUATION_DIFFERS, Sign.EVALUATION_FELL_BEHIND)
)


class Limits(RuleLimits):
    fewest_evaluations: int = 6
    material: float = 0.35
    """Share of what the training return had climbed by then that the gap must exceed."""
    clear: float = 4.0
    """Standard errors of the gap itself: robust ones, of which a few points give too small a number, or plain
    ones."""
    clear_plain: float = 3.0
    sinking: float = 0.5
    """Share of the gap by which the training return may fall over the second half."""
    uniform: float = 0.75
    """Share of the greatest entropy above which a policy is about uniform: its greedy version is another policy."""
    persistent: float = 0.9
    """Share of the late evaluations that must lie on one side."""
    together: float = 0.5
    """How far apart the first quarter may be, as a share of the late gap, or of a clear climb (an untrained greedy
    policy does worse than an untrained random one): more is another unit, not a parting."""
    together_of_climb: float = 0.6


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Gap:
    """Training minus evaluation, early and late."""

    early: float
    late: float
    climb: float
    """Of the training return until the second half."""
    fall: float
    """Of the training return over the second half."""
    bar: float
    share: float
    step: float
    train: float
    evaluation: float


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare both returns at the steps of the evaluations."""
    train, evaluation = facts.series("return/train"), facts.series("return/eval")
    # Validation prompts of a language model are others than those it trains on: there a gap is about what is learned.
    if facts.is_language_model:
        return None
    if train is None or evaluation is None or train.caveat or evaluation.caveat or train.axis != evaluation.axis:
        return None
    gap = _gap(train, evaluation, limits)
    if (
        gap is None
        or gap.late < gap.bar
        or gap.share < limits.persistent
        or _is_uniform(facts, limits)
        or _sinks(gap, limits)
    ):
        return None
    curve = facts.curve
    climb = gap.climb if curve is not None and curve.climbed else 0.0
    if abs(gap.early) > max(limits.together * gap.late, limits.together_of_climb * climb):
        return None
    summary = (
        f"over the second half {evaluation.logged_as} is {gap.evaluation:.4g} where {train.logged_as} is "
        f"{gap.train:.4g}; at the beginning they differed by {abs(gap.early):.3g}"
    )
    evidence = (
        facts.evidence("return/eval", gap.late, gap.bar, note="training minus evaluation, second half"),
        facts.evidence("return/eval", gap.share, limits.persistent, note="share of late evaluations below training"),
    )
    return RuleResult(Severity.WARNING, 0.75, summary, evidence, gap.step)


def _sinks(gap: Gap, limits: Limits) -> bool:
    """Whether the training return sinks: a mean over the last episodes then lies above what the policy gets by now."""
    return gap.fall > limits.sinking * gap.late


def _is_uniform(facts: RunFacts, limits: Limits) -> bool:
    """Whether the policy hardly prefers any action; the best of nearly equal ones, always taken, leads elsewhere."""
    top, late = uniform(facts), facts.late("entropy", 0.5)
    return top is not None and late is not None and late.value > limits.uniform * top


def _gap(train: Series, evaluation: Series, limits: Limits) -> Gap | None:
    steps, values = _finite(evaluation)
    at, returns = _finite(train)
    inside = (steps >= at[0]) & (steps <= at[-1] * 1.02) if at.size else np.zeros(steps.size, bool)
    steps, values = steps[inside], values[inside]
    if steps.size < limits.fewest_evaluations or returns.size < limits.fewest_evaluations:
        return None
    curve = _smooth(returns)
    differences = np.interp(steps, at, curve) - values
    quarter, half = max(2, steps.size // 4), steps.size // 2
    late = differences[half:]
    middle, scatter = median(late), deviation(late)
    # What was climbed by then: a return that rises to the end is not held against what it reaches later.
    climb = median(np.interp(steps[half:], at, curve)) - float(np.min(curve))
    return Gap(
        early=median(differences[:quarter]),
        late=middle,
        climb=climb,
        fall=float(np.interp(steps[half], at, curve) - curve[-1]),
        bar=max(
            limits.material * climb,
            min(limits.clear * scatter, limits.clear_plain * late.std(ddof=1)) / np.sqrt(late.size),
        ),
        share=float(np.mean(late > 0)),
        step=float(steps[half]),
        train=median(np.interp(steps[half:], at, returns)),
        evaluation=median(values[half:]),
    )


def _finite(series: Series) -> tuple[FloatArray, FloatArray]:
    finite = np.isfinite(series.values) & np.isfinite(series.steps)
    return series.steps[finite], series.values[finite]


def _smooth(values: FloatArray) -> FloatArray:
    """Running mean over a twentieth of the points: single episodes are too noisy to compare."""
    width = max(1, values.size // 20)
    sums = np.concatenate(([0.0], np.cumsum(np.pad(values, (width // 2, width - 1 - width // 2), mode="edge"))))
    smooth: FloatArray = (sums[width:] - sums[:-width]) / width
    return smooth
