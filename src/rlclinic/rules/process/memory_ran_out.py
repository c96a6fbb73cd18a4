"""Memory ran out.

What it sees: The error that ended the run, or the last errors of its log, say that memory of the GPU or of the
machine could not be had.
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
from rlclinic.rules.words import quoted

RULE = Rule("PRC02", means=(Sign.OUT_OF_MEMORY,))

_MEMORY = re.compile(
    r"out of memory|outofmemory|\bMemoryError\b|cannot allocate memory|unable to allocate|std::bad_alloc|oom[- _]?kill"
    r"|CUBLAS_STATUS_ALLOC_FAILED|RESOURCE_EXHAUSTED",
    re.IGNORECASE,
)


def check(facts: RunFacts) -> RuleResult | None:
    """Search the reason of the end, then the errors of the log."""
    run = facts.run
    if run.status.state in {Status.FINISHED, Status.RUNNING}:
        return None
    line = _line(run.status.reason)
    where = "why the run ended"
    for excerpt in run.logs:
        if excerpt.kind != "warning" and (found := _line(excerpt.text)) is not None and line in {None, found}:
            line, where = found, f"{excerpt.file}, line {excerpt.line}"
            break
    if line is None:
        return None
    evidence = (Evidence("log", where, 1.0, 0.0, note="passages that name memory as the cause"),)
    return RuleResult(Severity.ERROR, 0.95, f"memory ran out ({where}): {quoted(line)}", evidence)


def _line(text: str) -> str | None:
    return next((line for line in text.splitlines() if _MEMORY.search(line)), None)
