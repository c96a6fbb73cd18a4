"""One part of the reward is the same for every batch.

What it sees: Of the logged reward components one never changes while another does.
Why it hurts: A reward that never varies teaches nothing: a verifier that always answers the same, a parser that never
matches, or a function that is not called.
Evidence needed: at least two reward components with at least 12 points.
Looks alike: A component that is at its ceiling because it is learned; one that is only printed with few decimals.
What to change: Feed the component answers that must score and answers that must not, and read what it says.
References: huggingface/trl documentation, reward functions; Amodei et al. 2016 (arXiv 1606.06565).
"""

from __future__ import annotations

from rlclinic.facts.language_model import is_progressing
from rlclinic.facts.reward_parts import ANSWER, reward_parts
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.model.words import listed
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult

RULE = Rule(
    "LMR15",
    needs=("reward/*",),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    causes={"reward-component-dead": 6.5},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Look for a component without any spread beside one with some."""
    parts = reward_parts(facts)
    dead = [part for part in parts if part.spread == 0.0 and part.late == 0.0]
    if not dead or not any(part.spread > 0.0 for part in parts):
        return None
    names, verb = listed([part.series.logged_as for part in dead]), "is" if len(dead) == 1 else "are"
    summary = f"{names} {verb} 0 at all {len(dead[0].series)} points, while other parts of the reward vary"
    evidence = tuple(facts.evidence(part.series.name, 0.0, 0.0, note="highest minus lowest value") for part in dead)
    harmless = is_progressing(facts) and not any(ANSWER.search(part.series.logged_as) for part in dead)
    return RuleResult(Severity.INFO if harmless else Severity.WARNING, 0.75, summary, evidence)
