"""The gradient norm grows far beyond its early level.

What it sees: The norm before clipping, of the whole network or of a part, ends at least 30 times above its early
level (8 times when the return was lost as well), nearly without pause, while the return does not improve.
Why it hurts: Steps become random in direction or, behind a norm clip, tiny for every part but the largest. It is the
last stage before NaN.
Evidence needed: grad_norm or grad_norm/<part> before clipping with at least 12 points.
Looks alike: Norms that grow with the return or with Q on its way to its level, because value errors do. Single
spikes. Norms logged after clipping.
What to change: Lower the learning rate; scale or normalise rewards; clip gradients at 0.5 to 1. SAC with a stable
critic: the Q landscape sharpens, so raise alpha or regularise the critic.
References: Pascanu et al. 2013 (arXiv 1211.5063); Engstrom et al. 2020 (arXiv 2005.12729) on clipping in PPO.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import sank
from rlclinic.facts.gradients import gradient_norms
from rlclinic.facts.growth import growth
from rlclinic.facts.q_values import q_series
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "OPT01",
    needs=("grad_norm|grad_norm/*",),
    step=DecisionStep.GRADIENTS,
    means=(Sign.POLICY_TOO_FAST, Sign.CRITIC_DIVERGES),
)


class Limits(RuleLimits):
    grew: float = 30.0
    """Late over early norm."""
    grew_and_lost: float = 8.0
    hopeless: float = 1e4
    steady: float = 0.5


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Find the norm that grew most and hold it against the bar."""
    curve = facts.curve
    if curve is not None and curve.improved and not sank(facts):
        return None
    bar = limits.grew_and_lost if sank(facts) else limits.grew
    explained = _explained(facts)
    found = [(series, grown) for series in gradient_norms(facts) if (grown := growth(series)) is not None]
    found = [pair for pair in found if pair[1].factor >= bar * explained and pair[1].steadiness >= limits.steady]
    if not found:
        return None
    series, grown = max(found, key=lambda pair: pair[1].factor)
    beside = f" while the return went from {curve.start:.4g} to {curve.final:.4g}" if curve is not None else ""
    summary = (
        f"{series.logged_as} grew {grown.factor:.3g} times, from {grown.early.value:.3g} to {grown.late.value:.3g}"
        f"{',' if beside else ''}{beside}"
    )
    over = f", over {explained:.3g} explained by the growth of Q" if explained > 1 else ""
    note = f"late over early norm{over}"
    evidence = (facts.evidence(series.name, grown.factor / explained, bar, level=grown.late, note=note),)
    severity = Severity.ERROR if grown.factor > limits.hopeless * explained else Severity.WARNING
    return RuleResult(severity, 0.75 if curve is not None else 0.55, summary, evidence, grown.onset_step)


def _explained(facts: RunFacts) -> float:
    """Errors of Q, and with them gradients, grow as Q comes from its random start to its level."""
    grown = growth(q_series(facts)) if facts.is_off_policy else None
    return max(1.0, grown.factor) if grown is not None else 1.0
