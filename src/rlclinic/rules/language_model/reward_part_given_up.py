"""The reward rises because one of its parts is traded for another.

What it sees: The total reward rises while a part that had paid well falls to less than a third of what it was, or one
that pays for right answers falls beyond its noise, by a tenth or more.
Why it hurts: The easier part pays more than the one it replaces: length, form or style instead of the answer. The total
looks like learning.
Evidence needed: the training score and its parts, with at least 12 points each, or 4 validations of a part.
Looks alike: Prompts that become harder towards the end, which lowers every part that pays for answers; parts that
trade places for a while; a penalty that is avoided, which is below 0 and no part that paid.
What to change: Pay the part that rises only together with the one that falls, or weigh it so that it cannot make up for
it.
References: Amodei et al. 2016 (arXiv 1606.06565); Skalse et al. 2022 (arXiv 2209.13085).
"""

from __future__ import annotations

from rlclinic.facts.language_model import SIGNIFICANT, least_kept, part_given_up, training
from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult, Sign

RULE = Rule(
    "LMR31",
    needs=("return/train", "reward/*"),
    algorithms=("language-model", "ppo"),
    step=DecisionStep.REWARD,
    means=(Sign.REWARD_HACKING,),
    causes={"reward-hacking": 4.0, "length-hacking": 2.5},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Look for a part that fell while the whole rose."""
    part, score = part_given_up(facts), training(facts)
    if part is None or score is None or not facts.is_language_model:
        return None
    summary = (
        f"{part.series.logged_as} fell from {part.first:.3g} to {part.late:.3g} while the training score rose from "
        f"{score.start:.3g} to {score.end:.3g}"
    )
    evidence = (
        facts.evidence(part.series.name, part.late, least_kept(part), note="what the part pays late"),
        facts.evidence("return/train", score.errors, SIGNIFICANT, note="change of the whole in standard errors"),
    )
    # Half of what it paid is not lost to harder prompts.
    grave = part.late < 0.5 * part.first
    return RuleResult(Severity.ERROR if grave else Severity.WARNING, 0.85 if grave else 0.6, summary, evidence)
