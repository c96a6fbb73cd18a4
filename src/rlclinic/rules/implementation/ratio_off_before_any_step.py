"""The policy seems to differ from itself before it took a step.

What it sees: KL or clip fraction far from zero although the ratio is measured before the only gradient step of a
batch, or with a learning rate so small that no step can have moved the policy.
Why it hurts: The log-probability of an action comes out differently when it is computed again: the action was sampled
anew, clipped before it was stored, or the shapes broadcast. Every update then follows noise.
Evidence needed: approx_kl or clip_fraction, and the learning rate with the number of gradient steps per batch.
Looks alike: Dropout or batch normalisation in the policy; language models, whose sampler and trainer differ by right
(another rule). KL of later epochs, which is not zero: only what cannot have moved counts.
What to change: Evaluate the stored action, unclipped, under the distribution that sampled it; with learning rate 0
every log-ratio must be below 1e-4.
References: ray#8889 (the clipped action was stored); ray#65036 (squashed log-prob recomputed through atanh).
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts, WindowLevel
from rlclinic.facts.update_count import steps_per_batch
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleLimits, RuleResult

RULE = Rule(
    "IMP01",
    needs=("approx_kl|clip_fraction", "learning_rate|config:learning_rate|config:n_epochs"),
    algorithms=("ppo",),
    step=DecisionStep.UPDATE_SIZE,
)


class Limits(RuleLimits):
    no_step: float = 1e-6
    """Learning rate times gradient steps on a batch: Adam moves no weight further than this between two
    rollouts."""
    kl: float = 1e-3
    """Nats and share of ratios that rounding in half precision cannot explain."""
    clipped: float = 0.01
    fewest_points: int = 5


LIMITS = Limits()
# Frameworks whose PPO measures the ratio inside the loss, that is before the step.
BEFORE_THE_STEP = frozenset({"sb3", "sb3-zoo", "cleanrl", "torchrl", "rsl_rl", "skrl", "rlclinic"})


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Hold the ratio's metrics against what the steps can have done."""
    reason = _cannot_have_moved(facts, limits)
    if reason is None or facts.is_language_model:
        return None
    found = [
        (name, level, bar)
        for name, bar in (("approx_kl", limits.kl), ("clip_fraction", limits.clipped))
        if (level := _level(facts, name, limits)) is not None and abs(level.value) > bar
    ]
    if not found:
        return None
    said = " and ".join(f"{facts.run[name].logged_as} is {level.value:.3g}" for name, level, _ in found)
    evidence = tuple(
        facts.evidence(name, level.value, bar, level=level, note="median, against rounding")
        for name, level, bar in found
    )
    onset = min(level.first_step for _, level, _ in found)
    return RuleResult(Severity.ERROR, 0.8, f"{said} although {reason}", evidence, onset)


def _level(facts: RunFacts, name: str, limits: Limits) -> WindowLevel | None:
    level = facts.level(name)
    return level if level is not None and level.points >= limits.fewest_points else None


def _cannot_have_moved(facts: RunFacts, limits: Limits) -> str | None:
    steps, rate = steps_per_batch(facts), facts.setting("learning_rate")
    logged = facts.level("learning_rate")
    rate = logged.value if logged is not None else rate
    if steps is not None and rate is not None and 0.0 <= rate * max(steps, 1.0) <= limits.no_step:
        return f"{steps:.0f} gradient steps of learning rate {rate:.2g} cannot move the policy that far"
    if steps == 1.0 and "ppo" in facts.families and facts.run.framework in BEFORE_THE_STEP:
        return "the ratio is measured before the only gradient step on a batch"
    return None
