"""The log holds warnings or errors that the run survived.

What it sees: Passages that look like warnings or errors in the logs of a run that did not die of them.
Why it hurts: Usually it does not. Now and then one names the cause (an observation cut, a value clipped, a key
ignored).
Evidence needed: a text log.
Looks alike: Deprecation notes of libraries, which nearly every log has.
What to change: Read them once; the first is quoted.
References: none needed.
"""

from __future__ import annotations

import re

from rlclinic.facts.run_facts import RunFacts
from rlclinic.model.finding import Evidence, Severity
from rlclinic.model.run import LogExcerpt, Status
from rlclinic.rules.rule import Rule, RuleResult
from rlclinic.rules.words import quoted

RULE = Rule("PRC06")

# How the reader of logs marks a passage that repeats.
_REPEATS = re.compile(r"\(seen (\d+) times\)$")
# Notes of libraries about themselves; they are counted but not worth the quotation.
_ROUTINE = re.compile(r"deprecat|FutureWarning|UserWarning|OMP_NUM_THREADS|NCCL", re.IGNORECASE)


def check(facts: RunFacts) -> RuleResult | None:
    """Count the passages and quote the most telling one."""
    run = facts.run
    ended = run.status.state in {Status.CRASHED, Status.INTERRUPTED}
    found = [excerpt for excerpt in run.logs if excerpt.kind == "warning" or not ended]
    if not found:
        return None
    count = sum(_times(excerpt) for excerpt in found)
    telling = next((excerpt for excerpt in found if not _ROUTINE.search(excerpt.text)), found[0])
    noun = "warning or error" if count == 1 else "warnings and errors"
    summary = f"{count} {noun} in the log; {telling.file}, line {telling.line}: {quoted(_first_line(telling))}"
    evidence = (Evidence("log", telling.file, float(count), 0.0, points=len(found), note="passages, repeats included"),)
    return RuleResult(Severity.INFO, 0.9, summary, evidence)


def _times(excerpt: LogExcerpt) -> int:
    repeats = _REPEATS.search(excerpt.text)
    return int(repeats[1]) if repeats else 1


def _first_line(excerpt: LogExcerpt) -> str:
    """The line that says most: the last of a traceback, the first of anything else."""
    lines = [line for line in excerpt.text.splitlines() if line.strip()]
    if not lines:
        return excerpt.text
    return lines[-1] if excerpt.kind == "traceback" else lines[0]
