"""The action noise shrank to a small part of its start without the return gaining anything.

What it sees: The standard deviation of the actions fell below a tenth of its early level while the return is flat or
has fallen; or one action dimension fell below a fiftieth of the mean.
Why it hurts: A Gaussian policy explores only within its noise. Once that is gone the mean moves by tiny amounts, and
small widths make the ratio of every update extreme.
Evidence needed: action_std/mean or action_std/min with at least 12 points, and a return.
Looks alike: Convergence: the noise shrinks while the return climbs. State-dependent exploration starts at a small
value by design; only the fall counts. Precision tasks need little noise.
What to change: Raise the entropy bonus, set a lower bound for the log standard deviation, or lower the learning rate
if KL is high. One collapsed dimension: check that the reward depends on it.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.2; Ahmed et al. 2019 (arXiv 1811.11214).
"""

from __future__ import annotations

from rlclinic.facts.return_state import return_name, suffers
from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.facts.stretch import finite, lasting_from
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult, Sign

RULE = Rule(
    "POL08",
    needs=("action_std/mean|action_std/min", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
    step=DecisionStep.EXPLORATION,
    means=(Sign.POLICY_TOO_FAST, Sign.POLICY_DEAD),
)


class Limits(RuleLimits):
    collapsed: float = 0.1
    """Late over early width: 2.3 nats of entropy per dimension."""
    one_dimension: float = 0.02
    """Narrowest over mean width of the dimensions."""
    min_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Compare the late width with the early one, then the narrowest dimension with the mean."""
    curve = facts.curve
    if curve is None or not suffers(facts):
        return None
    for name in ("action_std/mean", "action_std/min"):
        early, late = facts.early(name), facts.late(name)
        if early is None or late is None or early.value <= 0.0 or _points(facts, name) < limits.min_points:
            continue
        if late.value / early.value < limits.collapsed:
            note = "last 10% over first 10%"
            what = f"{_logged(facts, name)} fell from {early.value:.3g} to {late.value:.3g}"
            return _sighting(facts, name, late, late.value / early.value, limits.collapsed, note, what)
    mean, narrowest = facts.late("action_std/mean"), facts.late("action_std/min")
    if mean is None or narrowest is None or narrowest.points < 2 or mean.value <= 0.0:
        return None
    if narrowest.value / mean.value >= limits.one_dimension or _points(facts, "action_std/min") < limits.min_points:
        return None
    what = f"the narrowest action dimension has {narrowest.value:.3g}, the mean {mean.value:.3g}"
    ratio = narrowest.value / mean.value
    return _sighting(facts, "action_std/min", narrowest, ratio, limits.one_dimension, "narrowest over mean", what)


def _sighting(
    facts: RunFacts, name: str, late: WindowLevel, ratio: float, threshold: float, note: str, what: str
) -> RuleResult | None:
    curve, series = facts.curve, facts.series(name)
    if curve is None or series is None:
        return None
    summary = f"{what} while the return went from {curve.start:.4g} to {curve.final:.4g}"
    evidence = (
        facts.evidence(name, ratio, threshold, level=late, note=note),
        facts.evidence(return_name(facts), curve.gain, 3 * curve.scatter, note="gain from start to end"),
    )
    steps, values = finite(series)
    onset = lasting_from(steps, values < 2.0 * late.value)
    return RuleResult(Severity.WARNING, 0.7, summary, evidence, onset)


def _points(facts: RunFacts, name: str) -> int:
    series = facts.series(name)
    return len(finite(series)[0]) if series is not None else 0


def _logged(facts: RunFacts, name: str) -> str:
    series = facts.series(name)
    return f"action std ({series.logged_as})" if series is not None else "action std"
