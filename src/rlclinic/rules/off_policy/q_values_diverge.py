"""Q values grow without bound while the return does not follow.

What it sees: The size of the mean Q grew at least tenfold since the early part of the run, nearly without pause, and
ended far above any discounted return that the observed returns allow, while the return did not improve.
Why it hurts: Each target is built on the next Q. Once errors feed on themselves, the policy chases values that do not
exist, and losses and gradients grow until nothing is learned.
Evidence needed: q/mean, or the actor loss of SAC, TD3 and DDPG (minus Q), with at least 12 points. The return and
gamma make it sharper.
Looks alike: Q that grows because the return does; Q that climbs from its random start to its true level; a reward
that is scaled inside the learner.
What to change: Lower the learning rate of the critic, slow the target (smaller tau or longer interval), take the
smaller of two critics, scale rewards down. Offline: raise conservatism.
References: Fujimoto et al. 2018 (arXiv 1802.09477); van Hasselt et al. 2018 (arXiv 1812.02648);
rail-berkeley/rlkit#50.
"""

from __future__ import annotations

from rlclinic.facts.growth import Growth, growth
from rlclinic.facts.q_values import Bound, q_bound, q_series
from rlclinic.facts.return_state import does_well
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "OFF01",
    needs=("q/mean|q1/mean|policy_loss",),
    algorithms=("q-learning", "continuous-q"),
    step=DecisionStep.CRITIC,
    means=(Sign.CRITIC_DIVERGES,),
)


class Limits(RuleLimits):
    grew: float = 10.0
    """Late over early size of Q; below it the climb to the true level is not over."""
    grew_alone: float = 1000.0
    """Where no return is known, only growth beyond this is certain to be divergence."""
    steady: float = 0.7
    beyond: float = 3.0
    """Q over the largest possible discounted return. An unknown gamma of 0.999 would allow ten times more."""
    beyond_unknown_gamma: float = 20.0
    hopeless: float = 100.0


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the growth of Q with what the return allows."""
    q, curve = q_series(facts), facts.curve
    grown = growth(q)
    if q is None or grown is None or grown.factor < limits.grew or grown.steadiness < limits.steady:
        return None
    bound = q_bound(facts)
    if bound is None or curve is None:
        return _by_growth_alone(facts, q.name, grown, limits)
    bar = (limits.beyond if bound.gamma_known else limits.beyond_unknown_gamma) * bound.value
    if grown.late.value <= bar or does_well(facts):
        return None
    times = grown.late.value / max(bound.value, 1e-12)
    summary = (
        f"the size of mean Q grew from {grown.early.value:.3g} to {grown.late.value:.3g}, {times:.3g} times the "
        f"largest discounted return compatible with the returns seen ({bound.value:.3g}), while the return went from "
        f"{curve.start:.4g} to {curve.final:.4g}"
    )
    severity = Severity.ERROR if times > limits.hopeless else Severity.WARNING
    return RuleResult(severity, 0.85, summary, _evidence(facts, q.name, grown, bound, bar, limits), grown.onset_step)


def _by_growth_alone(facts: RunFacts, name: str, grown: Growth, limits: Limits) -> RuleResult | None:
    if grown.factor < limits.grew_alone or does_well(facts):
        return None
    summary = (
        f"the size of mean Q grew {grown.factor:.3g} times, from {grown.early.value:.3g} to {grown.late.value:.3g}, "
        "and was still growing; no return on the same scale tells what would be possible"
    )
    evidence = (
        facts.evidence(name, grown.factor, limits.grew_alone, level=grown.late, note="late over early size of Q"),
    )
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, grown.onset_step)


def _evidence(
    facts: RunFacts, name: str, grown: Growth, bound: Bound, bar: float, limits: Limits
) -> tuple[Evidence, ...]:
    return (
        facts.evidence(name, grown.late.value, bar, level=grown.late, note=f"size of Q, last 10%; {bound.note}"),
        facts.evidence(name, grown.factor, limits.grew, level=grown.early, note="late over early size of Q"),
    )
