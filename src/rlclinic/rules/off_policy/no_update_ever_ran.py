"""The agent collected experience but no gradient update ever ran.

What it sees: An off-policy run that logs the return and its own speed or exploration rate, but not one loss, Q value
or update; or an update counter that never rises.
Why it hurts: The policy at the end is the policy at the start.
Evidence needed: a return, and another quantity that the trainer logs at every row (fps, epsilon, or updates).
Looks alike: Folders that keep episodes and evaluations only (RL Zoo), and frameworks that do not log losses. A return
that rises: something was updated. A run stopped before learning was due to start.
What to change: Lower learning_starts below the budget; check that the batch size does not exceed what the buffer
holds and that the train function is called.
References: SB3 documentation, `learning_starts` of off-policy algorithms.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "OFF06",
    needs=("return/train|return/eval", "fps|epsilon|time/elapsed|updates"),
    algorithms=("q-learning", "continuous-q"),
    step=DecisionStep.UPDATE_SIZE,
    means=(Sign.MISCONFIGURED,),
)

# Whatever an update leaves behind in a log.
TRACES = ("value_loss", "policy_loss", "loss", "td_error", "q/mean", "q1/mean", "q/max", "alpha_loss", "grad_norm")
# Frameworks that write losses into the same rows as speed and exploration, from the first update on.
LOG_LOSSES = frozenset({"sb3", "sb3-zoo", "rlclinic"})
# Rows that the trainer itself wrote.
ROWS = ("fps", "epsilon", "time/elapsed")


class Limits(RuleLimits):
    fewest_points: int = 5


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for any trace of an update beside a log that the trainer wrote."""
    run = facts.run
    returns = run.returns
    if not facts.is_off_policy or returns is None or len(returns) < limits.fewest_points:
        return None
    if facts.curve is not None and facts.curve.improved:
        return None
    counter = facts.series("updates")
    if any(name in run for name in TRACES) or any(name.startswith("grad_norm/") for name in run.series):
        return None
    if counter is not None and (counter.highest or 0.0) > 0:
        return None
    if counter is None and run.framework not in LOG_LOSSES:
        return None
    witness = counter or next((facts.series(name) for name in ROWS if facts.series(name) is not None), None)
    if witness is None or len(witness) < limits.fewest_points:
        return None
    due = facts.setting("learning_starts")
    waits = due is not None and run.env_steps is not None and due >= run.env_steps
    summary = f"{len(witness)} rows up to step {run.steps:,.0f} hold no loss, no Q value and no update" + (
        f"; learning_starts is {due:,.0f}" if due is not None else ""
    )
    evidence = (facts.evidence(witness.name, 0.0, 1.0, note="updates seen beside the rows of this series"),)
    return RuleResult(_severity(facts, due, waits=waits), 0.9 if waits else 0.75, summary, evidence)


def _severity(facts: RunFacts, due: float | None, *, waits: bool) -> Severity:
    """Stopped before learning was due is no fault of the config."""
    budget = facts.run.budget
    if waits and due is not None and budget is not None and due < 0.5 * budget:
        return Severity.INFO
    return Severity.ERROR
