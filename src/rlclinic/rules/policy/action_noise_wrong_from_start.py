"""The policy's actions were far too narrow, or too wide, from the first update on.

What it sees: The standard deviation of actions begins far below or above the range of actions and is still there at
the end, while the return does not rise.
Why it hurts: A policy that repeats nearly the same action sees nothing else and cannot find out what pays; one that
always acts at the bounds cannot do anything fine.
Evidence needed: action_std with at least 12 points, and a return.
Looks alike: A std that shrank while the policy converged (another rule). Environments whose actions are not scaled to
about [-1, 1]: there the level means nothing, and they should be rescaled. Squashed policies of off-policy algorithms.
What to change: Set the initial log_std to 0 (a std of 1 for actions in [-1, 1]), or -0.5 to -2 for fine control.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.2: initial std of 0.5 is best.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.return_state import return_name
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "POL15",
    needs=("action_std/mean|action_std/min|action_std/max", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.EXPLORATION,
)


class Limits(RuleLimits):
    narrow: float = 0.1
    """Standard deviations on actions in about [-1, 1]: below and above them exploration is broken from the
    start."""
    wide: float = 5.0
    stayed: float = 2.0
    """Late over early level within which training has not changed it."""
    min_points: int = 12


LIMITS = Limits()
# At the start all dimensions have the same one.
SPREADS = ("action_std/mean", "action_std/min", "action_std/max")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the first level of the std with the range, and the last with the first."""
    name = next((name for name in SPREADS if facts.series(name) is not None), SPREADS[0])
    early, late, curve, series = facts.early(name), facts.late(name), facts.curve, facts.series(name)
    if series is None or early is None or late is None or curve is None or len(series) < limits.min_points:
        return None
    narrow, wide = early.value < limits.narrow, early.value > limits.wide
    if not (narrow or wide) or early.value <= 0.0 or not 1.0 / limits.stayed < late.value / early.value < limits.stayed:
        return None
    if not failed(facts):
        return None
    bar = limits.narrow if narrow else limits.wide
    summary = (
        f"{series.logged_as} began at {early.value:.3g} and is {late.value:.3g} at the end (0.3 to 1 is common for "
        f"actions in [-1, 1]); the return went from {curve.start:.4g} to {curve.final:.4g}"
    )
    evidence = (
        facts.evidence(name, early.value, bar, level=early, note="median of the first tenth"),
        facts.evidence(return_name(facts), curve.gain, note="gain from start to end"),
    )
    return RuleResult(Severity.WARNING, 0.8, summary, evidence, early.first_step)
