"""The target network hardly moves in the run, or follows the online network at once.

What it sees: How often the run's updates renew the target: interval over tau, in updates, against all updates that
the steps allow, those to come included. Fewer than three renewals, or one at every update.
Why it hurts: A target that stands still teaches the values of the first random network. One that follows at once
takes away what makes Q-learning stable.
Evidence needed: tau or target_update_interval in the config, and the steps or the budget.
Looks alike: Short runs of a working config. Algorithms that work without a target, when the return rises.
What to change: tau 0.005 at every update, or a full copy every 0.1 to 1% of the budget.
References: muPRL operators SNU and SPV (arXiv 2408.15150): interval of 0.5 to 30% of the steps, tau 0.0005 to 0.12.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.offline import is_offline
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.update_count import TARGET_IN_ENV_STEPS, updates_per_step
from rlclinic.model.finding import Severity
from rlclinic.model.lazy_dataclass import dataclass
from rlclinic.model.run import Status
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule("OFF13", needs=("config:tau|config:target_update_interval",), algorithms=("q-learning", "continuous-q"))


class Limits(RuleLimits):
    few: float = 3.0
    """Renewals of the target within the run."""
    never: float = 0.5
    late: float = 0.5
    """Share of the steps before learning starts."""
    no_memory: float = 2.0
    """Updates between two renewals; tau of 0.5 at every update is already a target without memory."""


LIMITS = Limits()
WITHOUT_TARGET = frozenset({"CROSSQ"})


@dataclass(frozen=True, slots=True)
class _Renewal:
    updates: float
    """Gradient updates in the run, of one that goes on in its whole budget."""
    between: float
    """Updates until the target is (about) the online network of before."""
    key: str


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Count renewals of the target in the run."""
    renewal = _renewal(facts, limits)
    if renewal is None or facts.run.algorithm.upper() in WITHOUT_TARGET:
        return None
    renewals = renewal.updates / renewal.between
    bad = failed(facts)
    if renewals < limits.few:
        bad = bad or (renewals < limits.never and facts.curve is not None and not facts.curve.improved)
        summary = (
            f"renewing the target network takes {renewal.between:,.0f} updates, and the run has "
            f"{renewal.updates:,.0f}: about {renewals:.2g} renewals"
        )
        evidence = (setting_evidence(facts, renewal.key, renewals, limits.few, note="updates / (interval / tau)"),)
        return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.7 if bad else 0.5, summary, evidence)
    if renewal.between <= limits.no_memory and bad:
        within = "one update" if renewal.between <= 1.0 else f"{renewal.between:.2g} updates"
        summary = f"the target network becomes the online network within {within}: it has no memory"
        evidence = (
            setting_evidence(facts, renewal.key, renewal.between, limits.no_memory, note="interval / tau, in updates"),
        )
        return RuleResult(Severity.WARNING, 0.5, summary, evidence)
    return None


def _renewal(facts: RunFacts, limits: Limits) -> _Renewal | None:
    tau, interval = positive(facts, "tau"), positive(facts, "target_update_interval")
    steps, ratio = facts.run.env_steps, updates_per_step(facts)
    starts = positive(facts, "learning_starts") or 0.0
    logged = facts.series("updates")
    if (tau is None and interval is None) or not facts.is_off_policy or is_offline(facts) or not steps:
        return None
    # Few renewals because learning began late are another finding.
    if starts > limits.late * steps:
        return None
    updates = (logged.highest or 0.0) if logged is not None else steps * ratio if ratio is not None else None
    if not updates:
        return None
    between = interval or 1.0
    if "q-learning" in facts.families and facts.run.framework in TARGET_IN_ENV_STEPS:
        every = (positive(facts, "train_freq") or 1.0) * (positive(facts, "n_envs") or 1.0)
        # Several copies between two bursts of updates are one.
        between = max(between, every) * updates / steps
    key = "tau" if interval is None or (tau is not None and tau < 1.0) else "target_update_interval"
    # What is still to come of a run that goes on renews the target, too.
    rest = facts.progress if facts.run.status.state is Status.RUNNING else None
    return _Renewal(updates / min(rest or 1.0, 1.0), max(1.0, between) / min(tau or 1.0, 1.0), key)
