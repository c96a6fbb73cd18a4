"""Training metrics are logged, but no return.

What it sees: Losses, entropy or Q-values over the run, and neither a training nor an evaluation return; or a return
whose every point is undefined.
Why it hurts: Whether the agent gets better cannot be known. Losses do not tell: they fall and rise with the data
that the policy collects.
Evidence needed: at least one training metric, with five points or after five updates.
Looks alike: Supervised fine-tuning, which has no return. A return under a name that rlclinic does not know: it can
be mapped. An environment whose episodes have not ended yet.
What to change: Wrap the environment so that returns are recorded (SB3: Monitor; Gymnasium:
RecordEpisodeStatistics), or name the column with `--map return/train=NAME`. If returns stay undefined, check that
episodes end at all.
References: SB3 documentation, Monitor; ray issue 10416 (the return is NaN for ever: the environment never returns
done).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.run import Status
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule("EVA03", step=DecisionStep.ENVIRONMENT)

# Metrics that only a training writes.
TRAINING = ("policy_loss", "value_loss", "loss", "entropy", "approx_kl", "q/mean", "td_error", "alpha", "grad_norm")


class Limits(RuleLimits):
    fewest_points: int = 5


LIMITS = Limits()
# Words in a logged name that hint at a return under another name.
HINTS = ("return", "reward", "score", "success")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for training metrics without a return."""
    run = facts.run
    returns = run.returns
    if (returns is not None and returns.last is not None) or "loss/supervised" in run:
        return None
    # While a run goes on its first episodes may still be under way: rows are waited for, however many updates each is.
    goes_on = run.status.state is Status.RUNNING
    made = 0.0 if goes_on or "updates" not in run else run["updates"].last or 0.0
    seen = [run[name] for name in TRAINING if name in run and max(len(run[name]), made) >= limits.fewest_points]
    if not seen:
        return _undefined(facts)
    longest = max(seen, key=len)
    if returns is not None:
        points = f"at all {len(returns)} points" if len(returns) > 1 else f"after {made:,.0f} updates"
        summary = f"{returns.logged_as} is undefined {points}: no episode may ever have ended"
    else:
        summary = f"{len(longest)} points of {longest.logged_as} and other training metrics, but no return"
    names = [name for name in run.unknown_metrics if any(hint in name.lower() for hint in HINTS)]
    if names:
        summary += f"; unknown names that could be one: {', '.join(names[:3])}"
    evidence = (
        facts.evidence(longest.name, float(len(longest)), limits.fewest_points, note="points of training metrics"),
    )
    return RuleResult(Severity.WARNING, 0.9, summary, evidence)


def _undefined(facts: RunFacts) -> RuleResult | None:
    """A return that is undefined together with the length of the episodes: none has ended, in however few rows."""
    returns, lengths = facts.run.returns, facts.run.series.get("episode_length")
    if returns is None or lengths is None or lengths.last is not None or not len(lengths):
        return None
    summary = f"{returns.logged_as} and {lengths.logged_as} are undefined in every row: no episode may have ended"
    evidence = (facts.evidence(returns.name, 0.0, 1.0, note="finite points of the return"),)
    return RuleResult(Severity.WARNING, 0.8, summary, evidence)
