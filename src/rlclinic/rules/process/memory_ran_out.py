"""Memory ran out.

What it sees: The error that ended the run, or the last errors of its log, say that memory of the GPU or of the
machine could not be had; or that it was killed without a word.
Why it hurts: The run ends; and it will end at the same point again.
Evidence needed: a status or a log with the error.
Looks alike: A warning about memory that the program survived: it does not count once the run has finished.
What to change: GPU: smaller minibatch with gradient accumulation, shorter sequences, gradient checkpointing, a
smaller share for the sampler. Machine: smaller replay buffer (images as uint8, not stored twice), fewer parallel
environments.
References: PyTorch documentation, CUDA out of memory; SB3 documentation, optimize_memory_usage.
"""

from __future__ import annotations

import re

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import Status
from rlclinic.rules.rule import Rule, RuleResult, Sign
from rlclinic.rules.words import quoted, words_at_the_end

RULE = Rule("PRC02", means=(Sign.OUT_OF_MEMORY,))

_MEMORY = re.compile(
    r"out of memory|outofmemory|\bMemoryError\b|can(?:no|')t allocate memory|unable to allocate|std::bad_alloc"
    r"|\boom[- _]?(?:kill|when)|not enough memory|no available memory|CUBLAS_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED",
    re.IGNORECASE,
)
# All that a shell says of a process that was ended without a word, as the kernel does with the largest one.
_KILLED = re.compile(r"\bKilled(?=\s*\Z)")


def check(facts: RunFacts) -> RuleResult | None:
    """Search the reason of the end, then the errors of the log."""
    run = facts.run
    if run.status.state in {Status.FINISHED, Status.RUNNING}:
        return None
    found, sure = words_at_the_end(run, _MEMORY), True
    if found is None and run.status.state is Status.CRASHED and _KILLED.search(run.status.reason):
        found, sure = (run.status.reason, "why the run ended"), False
    if found is None:
        return None
    line, where = found
    evidence = (Evidence("log", where, 1.0, 0.0, note="passages that name memory as the cause"),)
    if not sure:
        summary = f"the process was killed from outside, as where memory runs out: {quoted(line)}"
        return RuleResult(Severity.WARNING, 0.9, summary, evidence)
    return RuleResult(Severity.ERROR, 0.95, f"memory ran out ({where}): {quoted(line)}", evidence)
