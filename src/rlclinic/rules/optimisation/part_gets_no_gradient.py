"""A part of the network never gets a gradient.

What it sees: A gradient norm of one part that is exactly zero in every row while other parts have gradients; of the
policy also one that is a hundred-thousandth of these, which rounding alone leaves. Or a norm of the whole that is
exactly zero from the first row to the last, in a run that did not learn.
Why it hurts: That part stays as it was initialised: it is not in the optimiser, is detached, or its loss does not
depend on it.
Evidence needed: grad_norm, or grad_norm/<part> of at least two parts or one beside the whole, with at least 5 points.
Looks alike: A norm printed with so few decimals that 0.0000 means small. Rewards that are all equal, in the whole batch
or within every group. A part that is
frozen on purpose. A part that lost its gradient later in the run is another finding, and so is a policy that became
deterministic.
What to change: Check that the optimiser holds the part's parameters, that nothing is detached on the way from the
loss, and that the coefficient of its loss is not zero.
References: ray-project/ray PR #22171 (value branch without gradient); pytorch/rl PR #1033.
"""

from __future__ import annotations

import numpy as np

from rlclinic.facts.exploration import is_dead
from rlclinic.facts.goal_status import failed
from rlclinic.facts.gradients import PREFIX, gradient_norms
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.stretch import rounding
from rlclinic.model.finding import Severity
from rlclinic.model.series import Series
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign
from rlclinic.signals._robust import median

RULE = Rule("OPT08", needs=("grad_norm|grad_norm/*",), step=DecisionStep.GRADIENTS, means=(Sign.BUG,))


class Limits(RuleLimits):
    fewest_points: int = 5
    hidden: float = 1e-3
    """What a printed zero of the whole norm may hide at the most."""
    clearly_above: float = 1000.0
    """Another part's norm over the rounding of the silent one, for a printed zero to mean zero."""
    next_to_none: float = 1e-5
    """Share of the other norms, and size in itself, below which a policy with scaled advantages gets as good as
    nothing; and the share of the rows that must show it."""
    nearly_all: float = 0.9


LIMITS = Limits()
# Parts that are never frozen on purpose.
ESSENTIAL = ("actor", "policy", "critic", "value")
POLICY = ("actor", "policy")


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for a part whose every norm is zero beside one whose norms are not."""
    norms = [series for series in gradient_norms(facts) if len(series) >= limits.fewest_points]
    loud = max((median(series.values) for series in norms if np.any(series.values)), default=0.0)
    silent = [series for series in norms if series.name.startswith(PREFIX) and _is_silent(facts, series, loud, limits)]
    certain = [series for series in silent if loud > limits.clearly_above * rounding(series)]
    is_nothing = bool(norms) and not any(np.any(series.values) for series in norms)
    if is_nothing and rounding(norms[0]) <= limits.hidden and _is_paid_apart(facts, limits) and failed(facts):
        whole = norms[0]
        summary = f"{whole.logged_as} is exactly 0 in all {len(whole)} rows: no parameter gets a gradient"
        shown = facts.evidence(whole.name, 0.0, 0.0, note="largest norm")
        return RuleResult(Severity.ERROR, 0.85, summary, (shown,), float(whole.steps[0]))
    if not certain or loud <= 0:
        return None
    names = ", ".join(series.logged_as for series in certain)
    level = max(_level(series, limits) for series in certain)
    told = f"at most {level:.2g} in nearly" if level > 0.0 else "exactly 0 in"
    verb = "is" if len(certain) == 1 else "are"
    summary = f"{names} {verb} {told} all {len(certain[0])} rows while other gradient norms are about {loud:.3g}"
    evidence = tuple(
        facts.evidence(
            series.name, _level(series, limits), _bar(loud, limits), note="what nearly all norms of the part stay below"
        )
        for series in certain
    )
    severity = _severity(facts, certain)
    # Beside a return that rises well it is worth a look, and hardly what holds the run back.
    sure = 0.85 if severity is Severity.ERROR or not _rose(facts) else 0.5
    return RuleResult(severity, sure, summary, evidence, float(certain[0].steps[0]))


def _is_paid_apart(facts: RunFacts, limits: Limits) -> bool:
    """Whether rewards differ, over the run and within groups: equal ones leave no advantage, and so no gradient."""
    returns, tied = facts.series("return/train"), facts.series("zero_variance_groups")
    varies = returns is None or np.unique(returns.values).size > 1
    return varies and (tied is None or float(np.mean(tied.values < 1.0)) > 1.0 - limits.nearly_all)


def _is_silent(facts: RunFacts, series: Series, loud: float, limits: Limits) -> bool:
    """Whether a part gets nothing; that of a critic is small where its loss is, that of a policy never."""
    policy = any(word in series.name for word in POLICY) and not is_dead(facts)
    return _level(series, limits) <= _bar(loud, limits) if policy else not np.any(series.values)


def _bar(loud: float, limits: Limits) -> float:
    """Below this a policy gets nothing: beside other parts, and in itself where a huge loss makes those loud."""
    return limits.next_to_none * min(loud, 1.0)


def _level(series: Series, limits: Limits) -> float:
    """What nearly all norms stay below: the first rows may be those of another part's start."""
    return float(np.quantile(np.abs(series.values[np.isfinite(series.values)]), limits.nearly_all, method="lower"))


def _rose(facts: RunFacts) -> bool:
    return facts.curve is not None and facts.curve.improved and not suffers(facts)


def _severity(facts: RunFacts, silent: list[Series]) -> Severity:
    if facts.curve is None or failed(facts):
        return Severity.ERROR
    essential = any(word in series.name for series in silent for word in ESSENTIAL)
    return Severity.WARNING if essential else Severity.INFO
