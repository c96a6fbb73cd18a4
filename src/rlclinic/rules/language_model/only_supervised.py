"""The run is supervised fine-tuning, not reinforcement learning.

What it sees: Only a supervised loss is logged: no reward, no score, no policy loss.
Why it hurts: It does not. Rules about returns, policies and critics have nothing to say here.
Evidence needed: a supervised loss, or a framework that names the run supervised.
Looks alike: A log of reinforcement learning whose reward went to another sink.
What to change: Point to the run that trains with rewards, if there is one.
References: verl's SFT trainer logs train/loss and train/lr(1e-3) only.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import Rule, RuleResult

RULE = Rule("LMR11", needs=("loss/supervised",))

# Any of these shows that a policy is trained on rewards.
OF_REINFORCEMENT = ("return/train", "return/eval", "policy_loss", "reward/shaped", "approx_kl", "kl_ref")


def check(facts: RunFacts) -> RuleResult | None:
    """See whether there is anything but a supervised loss."""
    loss = facts.series("loss/supervised")
    if loss is None or any(facts.series(name) is not None for name in OF_REINFORCEMENT):
        return None
    first, last = float(loss.values[0]), loss.last if loss.last is not None else float("nan")
    summary = (
        f"only a supervised loss is logged ({loss.logged_as} {first:.3g} to {last:.3g}): no reward, no policy loss"
    )
    evidence = (facts.evidence("loss/supervised", float(len(loss)), note="points of the supervised loss"),)
    return RuleResult(Severity.INFO, 0.95, summary, evidence)
