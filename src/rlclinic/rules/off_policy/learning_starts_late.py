"""Learning begins near or after the end of the budget.

What it sees: learning_starts above half of the budget or of the steps taken; an error from nine tenths on. Where the
setting is not known, the first loss in the log, after more than half of the steps.
Why it hurts: Until then the agent acts at random and nothing is learned; what is left is too short to learn in.
Evidence needed: learning_starts in the config, and the budget or the steps taken; else a loss beside a return.
Looks alike: A run that reached its goal all the same. A run that was stopped early: there the interruption is the
reason, not the setting.
What to change: Set learning_starts to a few episodes' worth of steps, at most 10% of the budget, or raise the
budget.
References: muPRL operator SLS (arXiv 2408.15150): learning_starts of 0.5 to 50% of the steps.
"""

from __future__ import annotations

from rlclinic.facts.return_state import reached_goal
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.saturation import saturation
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.model.run import Status
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "OFF07",
    needs=("config:learning_starts|updates|value_loss",),
    algorithms=("q-learning", "continuous-q"),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.MISCONFIGURED,),
)


class Limits(RuleLimits):
    late: float = 0.5
    """Share of the steps before the first update."""
    hopeless: float = 0.9
    """The same from which on next to nothing is left to learn in."""
    fewest_points: int = 6


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold learning_starts against the budget, then against the steps taken."""
    run = facts.run
    starts = positive(facts, "learning_starts")
    if run.step_axis != "env_steps":
        return None
    if starts is None:
        return _by_the_log(facts, limits)
    # A budget of zero is an evaluation, or one that was not written down.
    budget, taken = run.budget or None, run.env_steps
    if budget is not None and starts >= limits.hopeless * budget:
        return _sighting(facts, starts, budget, "budget", Severity.ERROR, 0.95, limits)
    if budget is not None and starts > limits.late * budget:
        return _sighting(facts, starts, budget, "budget", Severity.WARNING, 0.85, limits)
    if taken and starts > limits.late * taken and (budget is None or taken < 0.9 * budget):
        severity = Severity.INFO if budget is not None else Severity.WARNING
        return _sighting(facts, starts, taken, "steps taken", severity, 0.6, limits)
    return None


def _by_the_log(facts: RunFacts, limits: Limits) -> RuleResult | None:
    """The first loss against the steps taken; the return must have been logged from the beginning."""
    loss, returns, taken = facts.series("value_loss"), facts.run.returns, facts.run.env_steps
    if loss is None or returns is None or not taken or len(returns) < limits.fewest_points:
        return None
    first = float(loss.steps[0])
    if (
        first < limits.late * taken
        or float(returns.steps[0]) > limits.late / 2 * taken
        or facts.run.status.state is Status.RUNNING
        or _log_begins_there(facts, first)
    ):
        return None
    summary = f"{loss.logged_as} is first logged at {first:,.0f} of {taken:,.0f} env steps: nothing was learned before"
    evidence = (
        facts.evidence("value_loss", first / taken, limits.late, note="share of the steps before the first loss"),
    )
    done = reached_goal(facts) or saturation(facts) is not None
    severity = Severity.ERROR if first >= limits.hopeless * taken and not done else Severity.WARNING
    return RuleResult(severity, 0.8, summary, evidence, first)


def _log_begins_there(facts: RunFacts, first: float) -> bool:
    """Whether the training return is logged from there on as well: only the end of the log was kept."""
    trained = facts.series("return/train")
    return trained is not None and float(trained.steps[0]) >= first


def _sighting(
    facts: RunFacts, starts: float, whole: float, of_what: str, severity: Severity, confidence: float, limits: Limits
) -> RuleResult:
    share = starts / whole
    left = max(0.0, whole - starts)
    summary = (
        f"learning_starts is {starts:,.0f}, {100 * share:.0f}% of the {of_what} ({whole:,.0f}): "
        f"{f'{left:,.0f}' if left else 'no'} steps are left to learn in"
    )
    evidence = (setting_evidence(facts, "learning_starts", share, limits.late, note=f"share of the {of_what}"),)
    return RuleResult(severity, confidence, summary, evidence)
