"""Each rollout is used so often that the policy leaves it.

What it sees: At least 5 passes and 20 gradient steps per rollout, together with KL per rollout above 0.05 nats or a
clip fraction above 0.3 over the first three quarters of the run, while the return was lost or never came.
Why it hurts: Later passes improve the loss on actions that the new policy no longer takes. The ratio clip stops
single samples, not the drift.
Evidence needed: n_epochs and the batch size in the config, approx_kl or clip_fraction, and a return.
Looks alike: Many epochs with a small learning rate: KL stays small. High KL in a run that climbs: nothing is said. A
high learning rate alone does the same with few passes.
What to change: Halve n_epochs, or set a target KL of 0.01 to 0.03, or lower the learning rate.
References: Andrychowicz et al. 2021 (arXiv 2006.05990), section 3.5; Schulman et al. 2017 (arXiv 1707.06347).
"""

from __future__ import annotations

from rlclinic.facts.goal_status import failed
from rlclinic.facts.run_facts import RunFacts
from rlclinic.facts.settings import positive, setting_evidence
from rlclinic.facts.update_count import updates_per_rollout
from rlclinic.model.finding import Severity
from rlclinic.reference.tasks import has_reference_config, reference_config
from rlclinic.rules.rule import Rule, RuleLimits, RuleResult

RULE = Rule(
    "DAT04",
    needs=("config:n_epochs", "approx_kl|clip_fraction", "return/train|return/eval"),
    algorithms=("ppo", "actor-critic"),
)


class Limits(RuleLimits):
    many_passes: float = 5.0
    many_steps: float = 20.0
    fast: float = 0.05
    """Nats per rollout and share of clipped ratios; customary are 0.01 to 0.02 and 0.1 to 0.2."""
    clipped: float = 0.3
    fewest_points: int = 12


LIMITS = Limits()


def check(facts: RunFacts, limits: Limits = LIMITS) -> RuleResult | None:
    """Look for a policy that moves too fast beside many passes."""
    passes, steps = positive(facts, "n_epochs"), updates_per_rollout(facts)
    if (
        passes is None
        or steps is None
        or passes < limits.many_passes
        or steps < limits.many_steps
        or facts.is_language_model
    ):
        return None
    if passes <= _known_to_work(facts):
        return None
    # A policy that was destroyed looks calm afterwards, so the whole run counts, not its end.
    kl, clipped = facts.level("approx_kl", 0.0, 0.75), facts.level("clip_fraction", 0.0, 0.75)
    fast = kl is not None and kl.points >= limits.fewest_points and kl.value > limits.fast
    often = clipped is not None and clipped.points >= limits.fewest_points and clipped.value > limits.clipped
    if not (fast or often) or not failed(facts):
        return None
    seen = [f"KL {kl.value:.3g}" if kl is not None else "", f"clip fraction {clipped.value:.2g}" if clipped else ""]
    summary = (
        f"each rollout is used for {passes:.0f} passes and {steps:,.0f} gradient steps, with "
        f"{' and '.join(part for part in seen if part)} over the first three quarters of the run"
    )
    evidence = [setting_evidence(facts, "n_epochs", passes, limits.many_passes, note="passes over each rollout")]
    if kl is not None:
        evidence.append(facts.evidence("approx_kl", kl.value, limits.fast, level=kl, note="median"))
    if clipped is not None:
        evidence.append(facts.evidence("clip_fraction", clipped.value, limits.clipped, level=clipped, note="median"))
    return RuleResult(Severity.WARNING, 0.5, summary, tuple(evidence))


def _known_to_work(facts: RunFacts) -> float:
    """Passes of a working config for this task and algorithm; 0 where none is known."""
    run = facts.run
    if not has_reference_config(run.environment, run.algorithm):
        return 0.0
    known = reference_config(run.environment, run.algorithm).get("n_epochs")
    return float(known) if isinstance(known, int | float) else 0.0
