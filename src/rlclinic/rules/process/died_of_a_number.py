"""The process died of a number that is not finite.

What it sees: The error that ended the run says that a value was NaN or infinite, or that a distribution was given
parameters which none can have.
Why it hurts: A policy with one NaN among its weights has no actions any more: the error is where it is first asked for
one, not where it arose.
Evidence needed: a status or a log with the error.
Looks alike: A shape, a type or a missing file in the error. A NaN that a metric shows while the run goes on
(not-a-number).
What to change: Find the first NaN, not the last: rewards and observations before the loss, the loss before the
gradients, the gradients before the weights (`torch.autograd.set_detect_anomaly`, `tf.debugging.check_numerics`).
Clip gradients, lower the learning rate, bound log_std, divide by no zero.
References: DLR-RM/stable-baselines3#1593; hill-a/stable-baselines#806; verl-project/verl#891.
"""

from __future__ import annotations

import re

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.rules.rule import DecisionStep, Rule, RuleResult
from rlclinic.rules.words import quoted, words_at_the_end

RULE = Rule("PRC08", step=DecisionStep.NUMBERS, causes={"numerical-failure": 7.0, "physics-unstable": 4.5})

_NUMBER = re.compile(
    r"(?<![\w/.])(?:nans?|infs?|infinity)(?![\w/.])|\bnot finite|non-?finite|found invalid values"
    r"|all elements of std >= 0|probability tensor contains",
    re.IGNORECASE,
)


def check(facts: RunFacts) -> RuleResult | None:
    """Search the reason of the end, then the errors of the log."""
    run = facts.run
    found = words_at_the_end(run, _NUMBER) if run.status.state is Status.CRASHED else None
    if found is None:
        return None
    line, where = found
    evidence = (Evidence("log", where, 1.0, 0.0, note="passages that name a number which is not finite"),)
    summary = f"a number that is not finite ended the run ({where}): {quoted(line)}"
    return RuleResult(Severity.ERROR, 0.95, summary, evidence)
