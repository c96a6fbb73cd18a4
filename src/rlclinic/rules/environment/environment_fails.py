"""The environment raises, dies, hangs, or answers in a form that trainers do not take.

What it sees: While the environment was made, reset or stepped it raised an exception, ended its process, gave no
answer in time, or returned something else than the Gymnasium API asks for: four values from step, no pair from reset.
Why it hurts: Training dies at the same place, or waits for ever; where a wrapper swallows the exception, episodes end
without a reason.
Evidence needed: an examination (rlclinic examine).
Looks alike: A budget too small for a slow simulator: give it a larger one with --budget.
What to change: Call the environment by hand with the seed and actions that the message names, and fix what raises.
References: Farama-Foundation/Gymnasium check_env; rlworkgroup/garage#1117.
"""

from __future__ import annotations

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Severity
from rlclinic.rules.measured import measured
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult, Sign

RULE = Rule(
    "ENV30",
    needs=("environment:problems",),
    step=DecisionStep.ENVIRONMENT,
    means=(Sign.MISCONFIGURED,),
    causes={"exception": 7.0, "throughput-collapse": 1.0},
)


def check(facts: RunFacts) -> RuleResult | None:
    """Tell the first problem."""
    env = facts.measured
    found = next((problem for problem in env.problems if problem.kind != "breaks-contract"), None)
    if found is None:
        return None
    words = {"raised": "raised", "died": "ended its process", "hung": "did not answer"}.get(found.kind)
    told = f"the environment {words} in {found.where}: {found.message}"
    summary = told if words else f"{found.where} does not keep the Gymnasium API: {found.message}"
    return RuleResult(Severity.ERROR, 0.95, summary, (measured("problems", len(env.problems), 0.0),))
