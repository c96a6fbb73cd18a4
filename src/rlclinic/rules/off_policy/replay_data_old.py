"""Most of the replayed data comes from much older policies.

What it sees: The critic's loss fell and the return did not rise, while the average sample in the buffer is older than a
million gradient steps; or a logged age of the data that grows steadily while the return falls.
Why it hurts: The critic fits what old policies did. It says little about the states that the present policy visits.
Evidence needed: buffer_size and the updates per step in the config with a critic loss; or policy_lag.
Looks alike: Large buffers as such, which help more often than they hurt. Offline training, whose data never change.
What to change: A smaller buffer, fewer updates per step, or prioritise recent data; for asynchronous training fewer
actors per learner or a bound on the lag.
References: Fedus et al. 2020 (arXiv 2007.06700) on the age of the oldest policy; Zhang and Sutton 2017 (arXiv
1712.01275).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.growth import growth
from rlclinic.facts.offline import is_offline
from rlclinic.facts.return_state import suffers
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.update_count import updates_per_step
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("OFF15", needs=("policy_lag|config:buffer_size", "return/train|return/eval"))


class Limits(RuleLimits):
    old: float = 1_000_000.0
    """Gradient steps since the average sample was taken. Fedus et al. find harm for the oldest policy above ten
    million."""
    fell: float = 3.0
    """Early over late critic loss: it learns what it is given."""
    grown: float = 5.0
    """Late over early lag, and how steadily it grows."""
    steady: float = 0.7


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """A logged lag comes first, then the age that the config implies."""
    return _lag(facts, limits) or _age(facts, limits)


def _lag(facts: RunFacts, limits: Limits) -> RuleResult | None:
    series = facts.series("policy_lag")
    grown = growth(series)
    if series is None or grown is None or not suffers(facts):
        return None
    if grown.factor < limits.grown or grown.steadiness < limits.steady:
        return None
    summary = (
        f"{series.logged_as} grew from {grown.early.value:.3g} to {grown.late.value:.3g} updates while the return does "
        "not rise"
    )
    evidence = (facts.evidence("policy_lag", grown.factor, limits.grown, level=grown.late, note="late over early"),)
    return RuleResult(Severity.WARNING, 0.65, summary, evidence, grown.onset_step)


def _age(facts: RunFacts, limits: Limits) -> RuleResult | None:
    size, ratio, steps = positive(facts, "buffer_size"), updates_per_step(facts), facts.run.env_steps
    loss = growth(facts.series("value_loss"))
    if size is None or ratio is None or not steps or loss is None or is_offline(facts) or not failed(facts):
        return None
    age = 0.5 * min(size, steps) * ratio
    if age < limits.old or loss.factor * limits.fell > 1.0:
        return None
    summary = (
        f"the average sample of the buffer ({size:,.0f} steps) is {age:,.0f} gradient steps old; the critic's loss "
        f"fell to {loss.factor:.2g} of its early level and the return does not rise"
    )
    evidence = (
        setting_evidence(
            facts, "buffer_size", age, limits.old, note="gradient steps since the average sample was taken"
        ),
        facts.evidence("value_loss", loss.factor, 1.0 / limits.fell, level=loss.late, note="late over early level"),
    )
    return RuleResult(Severity.WARNING, 0.5, summary, evidence)
