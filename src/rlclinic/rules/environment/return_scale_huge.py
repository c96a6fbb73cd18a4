"""The returns are larger than the critic can come to predict, and it predicts nothing.

What it sees: The size of the values that the returns imply is beyond what the critic's output can move to within the
run (updates times learning rate times the units of its last layer), and explained variance stays near zero.
Why it hurts: While the critic is still on its way to the scale of the returns its errors are all alike, advantages
carry no information about actions, and a gradient clip shared with the policy leaves the policy almost no step.
Evidence needed: a return, episode_length and explained_variance with at least 12 points. The learning rate, batch size
and epochs tell how far the critic can move; without them a value of 50 counts as large.
Looks alike: Returns that hardly vary, where explained variance means nothing; an early critic in a run that still
rises; rewards that are normalised before the critic sees them.
What to change: Normalise rewards by their running spread (VecNormalize, NormalizeReward) or divide them by a constant,
so that values are of size one to ten; turn off value clipping.
References: ray-project/ray#8908; hill-a/stable-baselines#216; van Hasselt et al. 2016 (arXiv 1602.07714).
"""

from __future__ import annotations

from rlclinic.facts.episodes import return_name
from rlclinic.facts.goal import is_early
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive
from rlclinic.facts.update_count import expected_updates
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "ENV06",
    needs=("return/train|return/eval", "episode_length", "explained_variance"),
    algorithms=("ppo", "actor-critic"),
    covered_by=("VAL04",),
    step=DecisionStep.REWARD,
    means=(Sign.RETURNS_TOO_LARGE,),
)


class Limits(RuleLimits):
    min_points: int = 12
    explains_nothing: float = 0.1
    """Explained variance below which the critic predicts nothing."""
    large_value: float = 50.0
    """Least value that counts as large, and the bar where the critic's reach is not known; networks start near
    one."""
    units: float = 64.0
    """Units of a common last layer: with |activation| below one, Adam moves its output by at most this many
    learning rates."""
    nearly_constant: float = 0.01
    """Scatter of the return, as a share of its size, below which explained variance means nothing."""
    hopeless: float = 20.0
    """Times the critic's reach beyond which a small gain (as a share of the return's size) is luck of the first
    updates."""
    small_gain: float = 0.5
    usual_gamma: float = 0.99


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the values that the returns imply with what the critic can reach."""
    curve, length = facts.curve, facts.late("episode_length", 0.5)
    explained, late = facts.level("explained_variance"), facts.late("explained_variance", 0.3)
    if curve is None or length is None or explained is None or late is None or explained.points < limits.min_points:
        return None
    if late.value > limits.explains_nothing or explained.value > limits.explains_nothing or curve.still_rising:
        return None
    size = max(abs(curve.start), abs(curve.final))
    if curve.point_noise < limits.nearly_constant * abs(curve.final) or is_early(facts):
        return None
    if facts.run.config.get("normalize_reward") is True:
        return None
    value = _value_size(facts, size, length.value, limits)
    reach = _reach(facts, limits)
    bar = max(limits.large_value, reach or 0.0)
    if value <= bar:
        return None
    basis = "networks start near one" if reach is None else f"the critic's output can move by about {reach:.3g}"
    summary = (
        f"returns of size {size:.4g} over {length.value:.4g} steps imply values of about {value:.3g} ({basis}), and "
        f"explained variance ended at {late.value:z.2f}"
    )
    evidence = (
        facts.evidence(return_name(facts), value, bar, note="size of the discounted values implied by the return"),
        facts.evidence(
            "explained_variance", late.value, limits.explains_nothing, level=late, note="median of the last 30%"
        ),
    )
    hurts = suffers(facts) or (value > limits.hopeless * bar and curve.gain < limits.small_gain * size)
    return RuleResult(Severity.WARNING if hurts else Severity.INFO, 0.75 if hurts else 0.6, summary, evidence)


def _value_size(facts: RunFacts, size: float, length: float, limits: Limits) -> float:
    """A return is paid over an episode; a value sees no further than its horizon."""
    gamma = facts.setting("gamma")
    gamma = limits.usual_gamma if gamma is None else min(max(gamma, 0.0), 1.0 - 1e-6)
    return size * min(1.0, 1.0 / ((1.0 - gamma) * max(length, 1.0)))


def _reach(facts: RunFacts, limits: Limits) -> float | None:
    rate = positive(facts, "learning_rate_critic") or positive(facts, "learning_rate")
    steps = facts.run.env_steps
    updates = expected_updates(facts, steps) if steps else None
    return updates * rate * limits.units if updates and rate else None
