"""The policy copies its data, the bad episodes with the good ones.

What it sees: The evaluations end near the mean return of the data or below it, far below the better half of its
episodes, although the policy's actions are those of the data.
Why it hurts: The data hold better behaviour than the policy shows. What it pays for staying near all of them outweighs
what the values say.
Evidence needed: return/eval, offline/data_return, offline/data_best and offline/actions_outside.
Looks alike: Data that are equally good throughout: there is nothing better to find. A policy that leaves the data.
What to change: Less weight for staying near the data, or filtered cloning: stay near the best episodes only.
References: Fujimoto & Gu 2021 (arXiv 2106.06860); Kumar et al. 2021 (arXiv 2109.10813).
"""

from __future__ import annotations

from rlclinic.facts.offline import offline_of
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFL02",
    needs=("return/eval", "offline/data_best", "offline/actions_outside"),
    algorithms=("q-learning", "continuous-q"),
    covered_by=("OFL01", "OFL06", "OFL07", "OFL08"),
    causes={"conservatism-too-strong": 2.5, "learning-rate-too-low": 0.5, "too-few-updates": 0.8},
)


class Limits(RuleLimits):
    reached: float = 0.35
    """Share of the way from the mean of the data to their better half."""
    outside: float = 0.15
    apart: float = 0.25
    """Least distance of the better half from the mean, as a share of the larger of the two."""


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Judge what the policy makes of the best that its data hold."""
    found = offline_of(facts)
    if found is None or not found.short or found.actions_outside is None or found.share_of_best is None:
        return None
    way = found.data_best - found.data_return
    if way < limits.apart * max(abs(found.data_best), abs(found.data_return)):
        return None
    if found.share_of_best > limits.reached or found.actions_outside > limits.outside:
        return None
    summary = (
        f"the data have a mean return of {found.data_return:.4g}, their better half {found.data_best:.4g}; the "
        f"policy ends at {found.final:.4g}, and {100 * found.actions_outside:.0f}% of its actions are new"
    )
    evidence = (
        facts.evidence("return/eval", found.share_of_best, limits.reached, note="share of the way to the better half"),
    )
    return RuleResult(Severity.WARNING, 0.6, summary, evidence)
