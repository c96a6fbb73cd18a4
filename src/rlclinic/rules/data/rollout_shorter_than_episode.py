"""Rollouts are far shorter than the stretch over which credit should flow.

What it sees: Steps per environment and rollout below a fifth of the credit horizon 1 / (1 - gamma lambda), capped by
the episode length, while the return is poor.
Why it hurts: What happens after the rollout reaches an action only through the critic. A critic that has not learned
yet gives no credit for anything later.
Evidence needed: n_steps in the config, episode lengths or gamma, and a return.
Looks alike: A2C and IMPALA, which use 5 to 50 steps and work when their critic does. A working run: nothing is said
then.
What to change: Raise n_steps (and lower the number of environments to keep the batch), or raise the learning rate of
the critic.
References: Schulman et al. 2016 (arXiv 1506.02438), section 3; Andrychowicz et al. 2021 (arXiv 2006.05990), section
3.4.
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "DAT01", needs=("config:n_steps", "config:gamma", "return/train|return/eval"), algorithms=("ppo", "actor-critic")
)


class Limits(RuleLimits):
    short: float = 0.2
    """Rollout steps over the horizon of credit."""


LIMITS = Limits()
# Algorithms whose usual rollouts are this short: the statement is weaker there.
SHORT_BY_DESIGN = frozenset({"A2C", "A3C", "IMPALA"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold n_steps against the horizon of credit and the episode length."""
    steps, gamma = positive(facts, "n_steps"), facts.setting("gamma")
    length = facts.late("episode_length", 0.5)
    if steps is None or gamma is None or not facts.is_on_policy or facts.is_language_model or not failed(facts):
        return None
    trace = facts.setting("gae_lambda")
    decay = min(gamma * (1.0 if trace is None else trace), 0.9999)
    horizon = 1.0 / (1.0 - decay)
    needed = min(horizon, length.value) if length is not None and length.value > 0 else horizon
    share = steps / needed
    if share >= limits.short:
        return None
    summary = (
        f"a rollout has {steps:.0f} steps per environment, {100 * share:.0f}% of the {needed:.0f} steps over which "
        f"credit should flow (gamma {gamma:g}, lambda {1.0 if trace is None else trace:g})"
    )
    evidence = (setting_evidence(facts, "n_steps", share, limits.short, note="n_steps over the horizon of credit"),)
    usual = facts.run.algorithm.upper() in SHORT_BY_DESIGN
    return RuleResult(Severity.INFO if usual else Severity.WARNING, 0.3 if usual else 0.45, summary, evidence)
