"""Far more, or far fewer, gradient updates per env step than the algorithm is known to tolerate.

What it sees: Gradient updates per env step, as logged or as configured: above 8, or below one in 50.
Why it hurts: Too many fit the critic to a few transitions until it believes its own errors. Too few leave the data
unused and the budget spent.
Evidence needed: updates over env steps, or train_freq and gradient_steps (or update_to_data) in the config.
Looks alike: Algorithms made for many updates (REDQ, DroQ, CrossQ). Massively parallel simulation, which needs few
updates per step. Working runs: without a poor return it is a note.
What to change: One update per env step for SAC and TD3, one in four (images) to one for DQN. For more, reset networks
or use an ensemble.
References: Chen et al. 2021 (arXiv 2101.05982); Nikishin et al. 2022 (arXiv 2205.07802); D'Oro et al. 2023.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.offline import is_offline
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.update_count import logged_ratio, updates_per_step
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "OFF14", needs=("updates|config:gradient_steps|config:update_to_data",), algorithms=("q-learning", "continuous-q")
)


class Limits(RuleLimits):
    many: float = 8.0
    """Updates per env step."""
    few: float = 0.02
    massive: float = 256.0
    """Parallel environments above which few updates per step are the design."""


LIMITS = Limits()
MADE_FOR_MANY = frozenset({"REDQ", "DROQ", "CROSSQ", "DREAMERV3", "DREAMER"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the ratio, logged before configured, against both bounds."""
    if not facts.is_off_policy or is_offline(facts) or facts.run.algorithm.upper() in MADE_FOR_MANY:
        return None
    logged, configured = logged_ratio(facts), updates_per_step(facts)
    ratio = logged if logged is not None else configured
    if ratio is None or limits.few <= ratio <= limits.many:
        return None
    if ratio < limits.few and (positive(facts, "n_envs") or 1.0) >= limits.massive:
        return None
    many = ratio > limits.many
    bad = failed(facts)
    source = "logged" if logged is not None else "configured"
    summary = f"{ratio:.3g} gradient updates per env step ({source}); 0.06 to 1 is usual"
    bar = limits.many if many else limits.few
    evidence = (
        facts.evidence("updates", ratio, bar, note="updates over env steps since the first update")
        if logged is not None
        else setting_evidence(facts, "gradient_steps", ratio, bar, note="gradient_steps over train_freq")
    )
    return RuleResult(Severity.WARNING if bad else Severity.INFO, 0.6 if bad else 0.4, summary, (evidence,))
